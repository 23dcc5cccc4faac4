package expr

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Expressions of parts are those of rows, and fail where these do; parts fail nowhere else.
func TestDivide(t *testing.T) {
	t.Parallel()
	texts := []string{
		"upper(s)", "s || '-' || i", "substr(s, 1, 1)", "strftime(ms, '%Y-%m-%d')", "dayname(ms) || monthname(ms)", "monthname(ns) || hour(ns)", "dayname(day)", "monthname(day)", "strftime(ns, '%H:%M:%S.%f')",
		"case when i > 2 then 'a' when j is null then 'b' else s end", "case when i > 2 then upper(s) else 'x' end", "coalesce(s, i::varchar)",
		"(i * j)::varchar", "case when j <> 0 then (i / j)::varchar else s end", "concat_ws(s, i, day)", "s || null", "md5(s)", "day::varchar || (u + 1)",
		"case when s like 'a%' then length(s) else i end + 1", "date_trunc('month', ms)", "strftime(day, '%Y')", "b::varchar", "least(s, upper(s))",
		"ns - ms", "(ms - (ms + interval '5 hours'))::varchar", "case when b then (ns - ms)::varchar else (i + j)::varchar end",
	}
	r := rand.New(rand.NewPCG(7, 1))
	for range 400 {
		texts = append(texts, randomNumber(r, 3), "("+randomNumber(r, 2)+")::varchar || s", "case when "+randomBool(r, 2)+" then 'x' else s end")
	}
	divided := 0
	for i, text := range texts {
		e := bindText(t, text)
		_, plain := e.Column()
		parts, rest, ok := Divide([]*Expr{e}, func(e *Expr) bool { return plain || e.OnWords() }, func(*Expr) bool { return false })
		if !ok || len(parts) == 0 {
			continue
		}
		divided++
		data := randomRows(r, 40, i%2 == 0)
		b := data.batch(r, i%3 == 0)
		var want, got column.Vector
		err := e.NewEval().Eval(b, &want)
		of := &column.Batch{Rows: b.Rows, Cols: make([]column.Vector, len(parts))}
		for k, p := range parts {
			if p.MayFail() && !e.MayFail() {
				t.Fatalf("%s: part %d may fail", text, k)
			}
			if errPart := p.NewEval().Eval(b, &of.Cols[k]); errPart != nil && err == nil {
				t.Fatalf("%s: part %d: %v", text, k, errPart)
			} else if errPart != nil {
				of = nil
				break
			}
		}
		if of == nil {
			continue
		}
		if errRest := rest[0].NewEval().Eval(of, &got); (errRest == nil) != (err == nil) {
			t.Fatalf("%s: %v, of parts %v", text, err, errRest)
		}
		for i := 0; err == nil && i < data.n; i++ {
			if a, b := want.At(i), got.At(i); a.Null != b.Null || !a.Null && compareStored(a, b) != 0 {
				t.Fatalf("%s, row %d: %+v, of parts %+v", text, i, a, b)
			}
		}
	}
	if divided < len(texts)/3 {
		t.Errorf("%d of %d were divided", divided, len(texts))
	}
}

// What a part tells is no more than the expressions ask for, and each is there once.
func TestDivideInFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		parts int
		ok    bool
	}{
		{[]string{"upper(s)", "s || 'x'"}, 1, true},
		{[]string{"strftime(ms, '%j')", "strftime(ms, '%d')", "i"}, 2, true},
		{[]string{"dayname(ms)", "dayname(ms) || hour(ms)"}, 2, true},
		{[]string{"case when i > 2 then 'a' when i > 1 then 'b' else 'c' end"}, 2, true},
		{[]string{"s || i", "i", "s"}, 2, true},
		{[]string{"d::varchar"}, 1, false}, // -0 and 0 are one key
		{[]string{"case when d > 1 then 'a' else 'b' end"}, 1, true},
		{[]string{"(ns - ms)::varchar"}, 1, true}, // days and the rest are of one word
	} {
		binder := NewBinder(testLookup)
		var exprs []*Expr
		for _, text := range c.texts {
			exprs = append(exprs, bindBy(t, binder, text))
		}
		parts, rest, ok := Divide(exprs, func(e *Expr) bool { return e.OnWords() }, func(*Expr) bool { return true })
		if len(parts) != c.parts || len(rest) != len(exprs) || ok != c.ok {
			t.Errorf("%q: %d parts, %d of them, %t", c.texts, len(parts), len(rest), ok)
		}
	}
	e := bindText(t, "strftime(ms, '%Y-%m-%d')")
	parts, _, _ := Divide([]*Expr{e}, func(*Expr) bool { return false }, func(*Expr) bool { return false })
	b := &column.Batch{Rows: 3, Cols: make([]column.Vector, len(testColumns))}
	typ := parts[0].Type()
	b.Cols[e.Columns()[0]] = column.Vector{Type: typ, Len: 3, Int: []int64{-1, 1, 5}}
	var out column.Vector
	if err := parts[0].NewEval().Eval(b, &out); err != nil || out.Int[0] == out.Int[1] || out.Int[1] != out.Int[2] {
		t.Errorf("%v: %v", out.Int, err)
	}
}
