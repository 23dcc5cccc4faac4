package expr

// Form is what users are told of a form: what is written with words of its own, not as a name with
// arguments between commas.
type Form struct {
	Name    string
	Also    []string // other words by which it is looked for
	Shown   string
	Result  string // type of the result
	Doc     string
	Example string   // which can be parsed
	Parts   []string // the names of parts of dates that stand first in it
}

// formTable is the forms that are neither operators nor functions.
var formTable = []Form{
	{
		Name: "case", Also: []string{"when", "then", "else", "end", "if", "iif"}, Shown: "case [x] when a then b … [else c] end", Result: "their type",
		Doc:     "b of the first a that is true, or equals x; else c, NULL if there is none; `if(a, b, c)` is the same of one a",
		Example: "case when price > 100 then 'dear' else 'cheap' end",
	},
	{
		Name: "cast", Shown: "cast(x as type)", Result: "the type",
		Doc:     "x as a value of that type; an error (exit status 4) if it is none; `x::type` is the same",
		Example: "cast(price as int64)",
	},
	{
		Name: "try_cast", Shown: "try_cast(x as type)", Result: "the type", Doc: "likewise, NULL if it is none",
		Example: "try_cast(customer as int64)",
	},
	{
		Name: "extract", Shown: "extract(part from t)", Result: "as of that part",
		Doc:     "the part of that name, such as minute; `date_part('part', t)` is the same",
		Example: "extract(minute from ordered_at)", Parts: partNames(partsByName),
	},
	{
		Name: "position", Shown: "position(part in s)", Result: "int64",
		Doc:     "where the part begins, in characters from 1; 0 if it is not there; `strpos(s, part)` is the same",
		Example: "position('0' in customer)",
	},
	{
		Name: "substring from", Shown: "substring(s from start [for count])", Result: "string", Doc: "`substring(s, start, count)`",
		Example: "substring(customer from 2 for 3)",
	},
	{
		Name: "trim from", Also: []string{"leading", "trailing", "both"}, Shown: "trim([both | leading | trailing] [characters] from s)", Result: "string",
		Doc:     "`trim(s, characters)`, `ltrim` and `rtrim`",
		Example: "trim(leading 'C0' from customer)",
	},
	{
		Name: "comment", Also: []string{"--", "/*"}, Shown: "-- to the end of the line, /* … */", Result: "nothing", Doc: "a comment",
		Example: "price /* of one */ * quantity -- of the order",
	},
	{
		Name: "interval", Shown: "interval '1 day 2 hours'", Result: "interval",
		Doc:     "months, days and microseconds; also `interval 1 day`, `interval (n + 1) hours`",
		Example: "ordered_at + interval '1 month'",
	},
	{
		Name: "literal", Also: []string{"date", "time", "timestamp", "timestamptz", "true", "false", "null"},
		Shown: "1, 1.5, 1e3, 'text', true, null, date '2024-01-31'", Result: "int64, decimal, double, string, boolean, none, date",
		Doc:     "a constant; also `time '12:34:56'`, `timestamp '2024-01-31 12:34:56'`; beside a column a text is read as its type",
		Example: "ordered_at >= timestamp '2024-01-31 12:00:00'",
	},
	{
		Name: "column", Also: []string{"#", "name"}, Shown: `column, "a column", struct.field, #3`, Result: "its type",
		Doc:     "a column by its name, in double quotes where that holds more than letters, digits and _, or by its number",
		Example: `lower(#1)`,
	},
	{
		Name: "list literal", Also: []string{"["}, Shown: "[a, …]", Result: "a list of constants", Doc: "several p of `quantile(x, [p, …])`",
		Example: "quantile(price, [0.25, 0.75])",
	},
	{
		Name: "as", Also: []string{"alias"}, Shown: "x as name", Result: "as of x", Doc: "in lists of keys and aggregates: the name of the result's column",
		Example: "",
	},
	{
		Name: "filter", Shown: "agg(x) filter (where c)", Result: "as of the aggregate", Doc: "the aggregate of the rows where c is true",
		Example: "sum(price) filter (where quantity > 3)",
	},
	{
		Name: "distinct", Shown: "agg(distinct x)", Result: "as of the aggregate", Doc: "the aggregate of each different value of x, once",
		Example: "count(distinct customer)",
	},
	{
		Name: "order by", Shown: "list(x order by y [desc] [nulls first], …)", Result: "as of the aggregate",
		Doc:     "the values of `list`, `string_agg`, `first`, `last` and `any_value` in that order, NULL last if nothing else is said",
		Example: "list(product order by price desc)",
	},
	{
		Name: "within group", Also: []string{"percentile_cont", "percentile_disc"}, Shown: "percentile_cont(p) within group (order by x)", Result: "as of quantile",
		Doc:     "`quantile(x, p)`; `percentile_disc(p)` is `quantile_disc(x, p)`, `mode()` is `mode(x)`",
		Example: "percentile_cont(0.5) within group (order by price)",
	},
	{
		Name: "escape", Shown: "s like '10!%' escape '!'", Result: "boolean", Doc: "behind the character of escape `%` and `_` stand for themselves",
		Example: "product like '10!%' escape '!'",
	},
}

// Forms describes the forms.
func Forms() []Form { return formTable }
