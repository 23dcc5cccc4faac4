package expr

import (
	"errors"
	"strings"
	"testing"
)

// TestParsePrint protects the grammar: precedence and associativity show in
// where the canonical text needs parentheses.
func TestParsePrint(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want, why string }{
		{"a+b*c", "a + b * c", "products bind tighter than sums"},
		{"(a+b)*c", "(a + b) * c", "needed parentheses stay"},
		{"((a))+(b*c)", "a + b * c", "needless parentheses go"},
		{"a-b-c", "a - b - c", "operators of one level chain to the left"},
		{"a-(b-c)", "a - (b - c)", "and to the right only with parentheses"},
		{"a/b%c*d", "a / b % c * d", "products are one level"},
		{"a||b+c", "a || b + c", "concatenation binds less than a sum"},
		{"-a*b", "-a * b", "minus binds tighter than a product"},
		{"-(a*b)", "-(a * b)", "a negated product keeps its parentheses"},
		{"- - a", "- -a", "two signs without a blank would be a comment"},
		{"-(-(-a)) - -5", "- - -a - -5", "wherever they stand"},
		{"a--5\n+1", "a + 1", "a comment to the end of the line"},
		{"a /* -- */ - /**/ b -- c", "a - b", "comments within the line, and at the end"},
		{"'--' || '/*'", "'--' || '/*'", "none within a text"},
		{"1_000 + 1_0.0_1 + 1e1_0", "1000 + 10.01 + 1e+10", "groups of digits"},
		{"trim(leading 'a' from b)", "ltrim(b, 'a')", "one side"},
		{"trim(trailing from b)", "rtrim(b)", "blanks of one side"},
		{"trim(both a from b || c)", "trim(b || c, a)", "both sides"},
		{"trim(a from b)", "trim(b, a)", "both, where no side is named"},
		{"trim(leading || trim(both, 'a'))", "trim(leading || trim(both, 'a'))", "columns of these names"},
		{"-5", "-5", "a negative number is a literal"},
		{"a- -5", "a - -5", "minus a negative number"},
		{"-a**b^2", "power(power(-a, b), 2)", "minus binds tighter than a power, and powers chain to the left"},
		{"~a&b||c<<1", "~a & b || c << 1", "bits are one level with texts"},
		{"a+b&c", "a + b & c", "which is less than a sum"},
		{"-a at time zone 'UTC'", "-timezone('UTC', a)", "a zone binds tighter than minus"},
		{"a+interval 1 day*3", "a + interval '1 day' * 3", "an interval is an operand"},
		{"a - INTERVAL '90' MINUTES", "a - interval '01:30:00'", "with its unit behind it"},
		{"interval (a+b) weeks", "(a + b) * interval '7 days'", "so many units"},
		{"a !~ 'x' and b similar to 'y'", "not regexp_full_match(a, 'x') and regexp_full_match(b, 'y')", "other names of functions"},
		{"a isnull or b NOTNULL", "a is null or b is not null", "other spellings of is null"},
		{"if(a, b, c)", "case when a then b else c end", "if is case"},
		{"a not like '!%' escape '!'", "a not like '!%' escape '!'", "an escape character"},
		{"list(a order by b desc nulls first, c+1)", "list(a order by b desc nulls first, c + 1)", "an order within an aggregate"},
		{"quantile(a, [.5,1])", "quantile(a, [0.5, 1])", "a list"},
		{"mode() within group (order by a)", "mode(a)", "within group is another way to name the argument"},
		{"-5::int8", "-cast(5 as int8)", "a cast binds tighter than minus"},
		{"NOT a OR b AND c", "not a or b and c", "not, and, or in falling order, keywords in any case"},
		{"not (a or b)", "not (a or b)", "not over or"},
		{"(a or b) and c", "(a or b) and c", "or within and"},
		{"not a = b", "not a = b", "not binds less than a comparison"},
		{"(not a) = b", "(not a) = b", "not within a comparison"},
		{"a == b and c != d", "a = b and c <> d", "other spellings of = and <>"},
		{"a is null = b", "(a is null) = b", "is null binds less than a comparison"},
		{"a = b is not null", "a = b is not null", "so it applies to the comparison"},
		{"a between 1 and 2 and b", "a between 1 and 2 and b", "the first and belongs to between"},
		{"a not between b+1 and c", "a not between b + 1 and c", "bounds are sums"},
		{"not a between 1 and 2", "not a between 1 and 2", "not over between"},
		{"a in(1,'x',null)", "a in (1, 'x', null)", "a list of any constants"},
		{"a + 1 not in (b)", "a + 1 not in (b)", "in binds less than a sum"},
		{"a like 'x%' or b not ilike '_'", "a like 'x%' or b not ilike '_'", "like and ilike"},
		{"extract(MINUTE from a + 1)", "date_part('minute', a + 1)", "extract is date_part"},
		{"extract('day' FROM a)", "date_part('day', a)", "the part may be a text"},
		{"position('a' || b in c)", "strpos(c, 'a' || b)", "position is strpos"},
		{"substring(a from 2 for b)", "substring(a, 2, b)", "substring in the words of the standard"},
		{"SUBSTRING(a from 2)", "substring(a, 2)", "and without a count"},
		{"extract + 1", "extract + 1", "a column of that name"},
		{"COUNT(*)", "count(*)", "function names in any case"},
		{"count( DISTINCT a )filter(where a>1)", "count(distinct a) filter (where a > 1)", "parts of aggregate calls"},
		{"f()", "f()", "a call without arguments"},
		{"case when a then 1 when b then 2 else 3 end", "case when a then 1 when b then 2 else 3 end", "case with conditions"},
		{"CASE a WHEN 1 THEN 'x' END", "case a when 1 then 'x' end", "case with an operand"},
		{"cast(a as Decimal(10,2))::varchar", "cast(cast(a as decimal(10,2)) as string)", "both ways to cast"},
		{"a::timestamp_ns", "cast(a as timestamp_ns)", "types with a unit"},
		{`"a b"."c""d"`, `"a b.c""d"`, "quoted and dotted names"},
		{"a.b.c", "a.b.c", "the leaf of a struct"},
		{`"and" + "A"`, `"and" + A`, "a keyword as a name needs quotes, others do not"},
		{"date + timestamp * filter", "date + timestamp * filter", "soft keywords are names"},
		{"min(date)", "min(date)", "a column named date as an argument"},
		{"#3 > 1", "#3 > 1", "a column by place"},
		{"önë", `"önë"`, "letters of all scripts"},
		{"1.50 + .5 + 2.", "1.50 + 0.5 + 2.", "decimals keep their scale"},
		{"007", "7", "leading zeros"},
		{"0.0", "0.0", "a decimal zero"},
		{"1e3 + 1.5E-3", "1e+03 + 1.5e-03", "doubles"},
		{"9223372036854775807", "9223372036854775807", "the greatest int64"},
		{"9223372036854775808", "9223372036854775808.", "the next integer is a decimal"},
		{"-9223372036854775808", "-9223372036854775808", "the least int64"},
		{"'it''s' || ''", "'it''s' || ''", "quotes in strings"},
		{"date '2024-2-9'", "date '2024-02-09'", "a date literal"},
		{"timestamp '2024-01-31T12:34:56.5'", "timestamp '2024-01-31 12:34:56.5'", "a timestamp literal"},
		{"timestamp '2024-01-31 01:00:00+01'", "timestamptz '2024-01-31 00:00:00+00'", "a timestamp with a zone is in UTC"},
		{"timestamp '9999-12-31 00:00:00.000000001'", "", "beyond the range of nanoseconds"},
		{"true and FALSE or null", "true and false or null", "constants"},
		{"a\n+\tb", "a + b", "any blanks"},
	}
	for _, c := range cases {
		n, err := Parse(c.text)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: Parse(%q) = %s, want an error", c.why, c.text, n)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: Parse(%q): %v", c.why, c.text, err)
			continue
		}
		if got := n.String(); got != c.want {
			t.Errorf("%s: Parse(%q) prints %q, want %q", c.why, c.text, got, c.want)
		}
		roundTrip(t, n)
	}
}

// roundTrip checks that the text of n reads back as n.
func roundTrip(t *testing.T, n Node) {
	t.Helper()
	again, err := Parse(n.String())
	if err != nil {
		t.Fatalf("canonical text %q: %v", n, err)
	}
	if again.String() != n.String() {
		t.Fatalf("canonical text %q reads back as %q", n, again)
	}
}

// A name without as is a mistake that SQL allows and many will make.
func TestNameWithoutAs(t *testing.T) {
	t.Parallel()
	_, err := ParseAggs("sum(price) p")
	if want := `expected "," or "as NAME", found "p", at character 12 of "sum(price) p"`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestParseErrors protects the place and wording of mistakes.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"", `expected an expression, found end of text, at character 1 of ""`},
		{"position(a from b)", `expected "in", found "from", at character 12 of "position(a from b)"`},
		{"extract(minute, a)", `expected "from", found ",", at character 15 of "extract(minute, a)"`},
		{"extract(1 from a)", `expected a part of a date, such as minute, found number 1, at character 9 of "extract(1 from a)"`},
		{"a +", `expected an expression, found end of text, at character 4 of "a +"`},
		{"a b", `expected end of text, found "b", at character 3 of "a b"`},
		{"(a", `expected ")", found end of text, at character 3 of "(a"`},
		{"a)", `expected end of text, found ")", at character 2 of "a)"`},
		{"'abc", `string without a closing ', at character 1 of "'abc"`},
		{`x + "abc`, `name without a closing ", at character 5 of "x + "abc"`},
		{`""`, `empty name, at character 1 of """"`},
		{"a < b < c", `comparisons do not chain; join them with "and", at character 7 of "a < b < c"`},
		{"1 + not a", `"not" needs parentheses here, at character 5 of "1 + not a"`},
		{"a is 3", `expected null, true, false, unknown or distinct from, found number 3, at character 6 of "a is 3"`},
		{"a not 3", `expected end of text, found "not", at character 3 of "a not 3"`},
		{"a not 'in'", `expected end of text, found "not", at character 3 of "a not 'in'"`},
		{"list(a order b)", `expected ")", found "order", at character 8 of "list(a order b)"`},
		{"list(a order by)", `expected an expression, found ")", at character 16 of "list(a order by)"`},
		{"[1, 2", `expected "]", found end of text, at character 6 of "[1, 2"`},
		{"a at time 3", `expected "zone", found number 3, at character 11 of "a at time 3"`},
		{"a like 'x' escape '%'", `expected one character, such as '!', other than % and _, found string '%', at character 19 of "a like 'x' escape '%'"`},
		{"list(a order b)", `expected ")", found "order", at character 8 of "list(a order b)"`},
		{"a in ()", `expected an expression, found ")", at character 7 of "a in ()"`},
		{"a between 1", `expected "and", found end of text, at character 12 of "a between 1"`},
		{"ä + $", `unexpected character '$', at character 5 of "ä + $"`},
		{"1abc", `a name cannot begin with a digit; quote it with ", at character 2 of "1abc"`},
		{"1e", `number without digits in its exponent, at character 1 of "1e"`},
		{"1e999", `number out of range, at character 1 of "1e999"`},
		{"#x", `# needs the number of a column, at character 1 of "#x"`},
		{"a::intt", `unknown type "intt" (did you mean "int"?), at character 4 of "a::intt"`},
		{"a::decimal(80)", `a decimal has 1 to 76 digits, and no more than these after the point, at character 12 of "a::decimal(80)"`},
		{"date '2023-02-29'", `'2023-02-29' is not a date, at character 6 of "date '2023-02-29'"`},
		{"case end", `expected an expression, found "end", at character 6 of "case end"`},
		{"a\n$", `unexpected character '$', at character 3 of "a $"`},
	}
	for _, c := range cases {
		n, err := Parse(c.text)
		if err == nil {
			t.Errorf("Parse(%q) = %s, want an error", c.text, n)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", c.text, err, c.want)
		}
		var located *Error
		if !errors.As(err, &located) {
			t.Errorf("Parse(%q): %T, want *Error", c.text, err)
		}
	}
}

// TestParseDepth protects the stack: nesting is refused at a limit, and a
// long chain of operators, which nests to the left, is not.
func TestParseDepth(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"(", "-", "not ", "f(", "case when ", "a in (", "cast("} {
		if _, err := Parse(strings.Repeat(open, 100_000) + "a"); err == nil {
			t.Errorf("%q nested 100,000 deep was parsed", open)
		}
	}
	if _, err := Parse(strings.Repeat("(", 150) + "a" + strings.Repeat(")", 150)); err != nil {
		t.Error(err)
	}
	n, err := Parse(strings.Repeat("a+", 200_000) + "a")
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, n)
	if _, err := Parse(strings.Repeat("a+", maxText) + "a"); err == nil {
		t.Error("text above the limit was parsed")
	}
}

// TestLists protects what the engine reads from lists.
func TestLists(t *testing.T) {
	t.Parallel()
	keys, err := ParseKeys(` id1 , "a b" as x, v1+1 as "y z",f( a , b )`)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text, alias, node string
		pos               int
	}{{"id1", "", "id1", 1}, {`"a b"`, "x", `"a b"`, 7}, {"v1+1", "y z", "v1 + 1", 19}, {"f( a , b )", "", "f(a, b)", 33}}
	if len(keys) != len(want) {
		t.Fatalf("%d keys, want %d", len(keys), len(want))
	}
	for i, w := range want {
		k := keys[i]
		if k.Text != w.text || k.Alias != w.alias || k.Expr.String() != w.node || k.Pos != w.pos {
			t.Errorf("key %d: %+v, want %+v", i, k, w)
		}
	}
	for _, bad := range []string{"", "a,", "a as", "a b", ",a", "a desc", "a as 1"} {
		if _, err := ParseKeys(bad); err == nil {
			t.Errorf("ParseKeys(%q) gave no error", bad)
		}
	}
}

// TestOrder protects the words of an order, and that -x of a name means
// descending while -x within an expression is arithmetic.
func TestOrder(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text, item, node string
		desc             bool
		nulls            NullsOrder
	}{
		{"name", "name", "name", false, NullsDefault},
		{"- name", "name", "name", true, NullsDefault},
		{"-sum(v1) nulls first", "sum(v1)", "sum(v1)", true, NullsFirst},
		{"name desc nulls last", "name", "name", true, NullsLast},
		{"name ASC", "name", "name", false, NullsDefault},
		{"-name asc", "-name", "-name", false, NullsDefault},
		{"-a+b", "-a+b", "-a + b", false, NullsDefault},
		{"(-a)", "(-a)", "-a", false, NullsDefault},
		{"desc desc", "desc", "desc", true, NullsDefault},
	}
	for _, c := range cases {
		items, err := ParseOrder(c.text)
		if err != nil {
			t.Errorf("ParseOrder(%q): %v", c.text, err)
			continue
		}
		i := items[0]
		if i.Text != c.item || i.Expr.String() != c.node || i.Desc != c.desc || i.Nulls != c.nulls || c.text[i.Pos:i.Pos+len(i.Text)] != i.Text {
			t.Errorf("ParseOrder(%q) = %+v, want %+v", c.text, i, c)
		}
	}
	if _, err := ParseOrder("a nulls"); err == nil {
		t.Error(`"a nulls" gave no error`)
	}
}

// TestRewrite protects that replacing a call keeps the rest and leaves the
// original alone.
func TestRewrite(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"max(a) - min(b)", "case max(a) when 1 then min(b) else 2 end", "max(a) in (1, min(b))", "max(a) between 1 and min(b)",
		"not max(a) is null", "cast(max(a) as int64) like min(b)", "f(max(a), 2) filter (where min(b) > 1)", "-max(a) + 1",
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("max(a)", "x", "min(b)", "x").Replace(n.String())
		got := Rewrite(n, func(n Node) (Node, bool) {
			if c, ok := n.(*Call); ok && (c.Name == "max" || c.Name == "min") {
				return &Column{Name: "x"}, true
			}
			return nil, false
		})
		if got.String() != want {
			t.Errorf("Rewrite(%q) = %q, want %q", text, got, want)
		}
		if again, _ := Parse(text); again.String() != n.String() {
			t.Errorf("Rewrite changed its argument to %q", n)
		}
		calls := 0
		Walk(n, func(n Node) bool {
			if _, ok := n.(*Call); ok {
				calls++
			}
			return true
		})
		if calls != strings.Count(text, "max(")+strings.Count(text, "min(")+strings.Count(text, "f(") {
			t.Errorf("Walk(%q) saw %d calls", text, calls)
		}
	}
}

// FuzzParse protects against panics, and that canonical text is a fixed
// point.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a + b * -c", "not x is null or y in (1, 'a''b')", `"q""q".z between 1.50 and 2e3`, "count(distinct x) filter (where a > 1)",
		"case a when 1 then null else date '2024-01-31' end", "timestamptz '2000-01-01 00:00:00.123+05:30' - #3", "x::decimal(5,2)::timestamp_ns",
		"-9223372036854775808 = 9223372036854775808.", "time '12:00:00.5' || 'x' not ilike '%_'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err == nil {
			roundTrip(t, n)
		} else if strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("error of more than one line: %q", err)
		}
		for _, parse := range []func(string) ([]Item, error){ParseKeys, ParseAggs, ParseOrder} {
			items, _ := parse(s)
			for _, i := range items {
				if !strings.HasPrefix(s[i.Pos:], i.Text) {
					t.Errorf("item %q is not at %d of %q", i.Text, i.Pos, s)
				}
			}
		}
	})
}
