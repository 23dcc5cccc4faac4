package expr

import (
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// nestedColumns are a list, a map and lists of types that have rules of
// their own.
var nestedColumns = map[string]column.Type{
	"l": column.ListOf(int64Type), "m": column.MapOf(stringType), "b": column.ListOf(boolType), "s": column.ListOf(stringType),
	"n": column.ListOf(nullType), "d": column.ListOf(dateType), "w": column.MapOf(column.DecimalType(30, 2)), "x": int64Type,
}

func bindNested(text string, bind func(Node, string, func(string) (int, column.Type, error)) (*Expr, error)) (*Expr, error) {
	n, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return bind(n, text, func(name string) (int, column.Type, error) { return 0, nestedColumns[name], nil })
}

// No operation but the functions of lists takes a list or map, whatever the type of its elements.
func TestNestedRefused(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		"@ = 1", "1 = @", "@ = @", "@ < @", "@ <> null", "null = @", "@ = 'a'", "@ in (1)", "1 in (1, @)", "@ in (@)", "x in (@, null)",
		"@ between 1 and 2", "x between 1 and @", "@ || 'a'", "'a' || @", "@ || @", "@ like 'a'", "'a' like @", "@ ilike '%'",
		"@ + 1", "1 - @", "@ * @", "@ / 2", "@ % 2", "-@", "not @", "@ and true", "false and @", "true or @", "@ or @",
		"cast(@ as varchar)", "@::int", "@::double", "(@)::boolean", "abs(@)", "coalesce(@)", "coalesce(@, @)", "coalesce(null, @)", "nullif(@, @)",
		"nullif(null, @)", "lower(@)", "upper(@)", "strlen(@)", "year(@)", "month(@)", "day(@)",
		"case when @ then 1 end", "case when true then @ end", "case when x = 1 then x else @ end", "case @ when 1 then 2 end", "case x when @ then 2 end",
	} {
		for name, typ := range nestedColumns {
			if !typ.IsNested() {
				continue
			}
			text := strings.ReplaceAll(pattern, "@", name)
			e, err := bindNested(text, Bind)
			if err == nil {
				t.Errorf("%s: taken, as %s", text, e.Type())
			} else if !strings.Contains(err.Error(), typ.String()) || !strings.Contains(err.Error(), "nothing can be computed with") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestNestedNoCondition(t *testing.T) {
	t.Parallel()
	for name, typ := range nestedColumns {
		if _, err := bindNested(name, BindFilter); err == nil || !strings.Contains(err.Error(), "must be boolean, this is "+typ.String()) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// A list passes through as it is and may be asked whether it is NULL.
func TestNestedPasses(t *testing.T) {
	t.Parallel()
	list := column.Vector{
		Type: nestedColumns["l"], Len: 3, Null: []bool{false, true, false}, Span: []column.Span{{Len: 2}, {}, {Off: 1, Len: 2}},
		Elem: &column.Vector{Type: int64Type, Len: 3, Int: []int64{1, 2, 3}},
	}
	batch := &column.Batch{Rows: 3, Cols: []column.Vector{list}}
	var out column.Vector
	e, err := bindNested("(l)", Bind)
	if err != nil || e.Type() != list.Type {
		t.Fatalf("%v, type %v", err, e.Type())
	}
	if err := e.NewEval().Eval(batch, &out); err != nil || out.Elem != list.Elem || out.Span[2] != list.Span[2] || !out.IsNull(1) {
		t.Errorf("%v: %+v", err, out)
	}
	for text, want := range map[string][]int32{"l is null": {1}, "l is not null": {0, 2}, "l is null and 1 = 1 or false": {1}} {
		e, err := bindNested(text, BindFilter)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		sel, err := e.NewEval().Filter(batch, nil)
		if err != nil || len(sel) != len(want) || sel[0] != want[0] {
			t.Errorf("%s: rows %v, %v; want %v", text, sel, err, want)
		}
	}
}
