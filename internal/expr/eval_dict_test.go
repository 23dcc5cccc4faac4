package expr

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// textDict is a dictionary of t<from>, t<from+1>, and so on.
func textDict(n, from int) *column.Dict {
	v := column.Vector{Type: stringType, Len: n, Span: make([]column.Span, n)}
	for i := range n {
		at := len(v.Data)
		v.Data = fmt.Appendf(v.Data, "t%d", from+i)
		v.Span[i] = column.Span{Off: uint32(at), Len: uint32(len(v.Data) - at)}
	}
	v.Data = append(v.Data, make([]byte, column.SpanPadding)...)[:len(v.Data)]
	return &column.Dict{Values: v}
}

// codedBatch is rows of a dictionary of texts.
func codedBatch(d *column.Dict) *column.Batch {
	codes := make([]int32, 4000)
	for i := range codes {
		codes[i] = int32(i * 31 % d.Len())
	}
	return &column.Batch{Rows: len(codes), Cols: []column.Vector{8: {Type: stringType, Len: len(codes), Codes: codes, Dict: d}}}
}

// Results over one large dictionary after the other are right, and take memory once: numbers,
// texts and NULLs, dictionaries larger and smaller than the one before, and small ones in
// between.
func TestTranslationsRecycled(t *testing.T) {
	const entries, some = 60_000, 12
	dicts := make([]*column.Dict, 2*some)
	// NULLs are in the last part of one, and the first of the next
	from := func(i int) int { return i + i%2*50_000 }
	for i := range dicts {
		dicts[i] = textDict(entries-i%5*1000, from(i))
		if i%3 == 2 {
			dicts[i] = textDict(7, from(i))
		}
	}
	part := bindText(t, "60 / (strlen(s) - 6)").NewEval()
	upper := bindText(t, "upper(s)").NewEval()
	rest := bindText(t, "substr(s, 2)").NewEval() // texts that stay where they are
	round := func(i int) {
		b := codedBatch(dicts[i])
		var n, up, cut column.Vector
		for range entries/len(b.Cols[8].Codes) + 1 { // a large one is not translated at first sight
			if err := part.Eval(b, &n); err != nil {
				t.Fatal(err)
			}
			if err := upper.Eval(b, &up); err != nil {
				t.Fatal(err)
			}
			if err := rest.Eval(b, &cut); err != nil {
				t.Fatal(err)
			}
		}
		if n.Dict == nil || up.Dict == nil || cut.Dict == nil {
			t.Fatalf("dictionary %d was not translated", i)
		}
		if &cut.Dict.Values.Data[0] != &dicts[i].Values.Data[0] {
			t.Fatalf("dictionary %d was copied", i)
		}
		for row := 0; row < b.Rows; row += 100 {
			want := fmt.Sprintf("T%d", int(b.Cols[8].Codes[row])+from(i))
			null := len(want) == 6
			if v := n.At(row); up.At(row).Bytes != want || cut.At(row).Bytes != want[1:] || v.Null != null || !null && v.Float != 60/float64(len(want)-6) {
				t.Fatalf("dictionary %d, row %d: %v and %v of %q", i, row, v, up.At(row), want)
			}
		}
	}
	for i := range some {
		round(i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := some; i < 2*some; i++ {
		round(i)
	}
	runtime.ReadMemStats(&after)
	const each = entries * (8 + 8 + 6) // a number, the place of a text, the text
	if made := after.TotalAlloc - before.TotalAlloc; made > some*each/2 {
		t.Errorf("%d bytes were allocated for %d more dictionaries, of which each takes up to %d", made, some, each)
	}
}

// What may be something else than NULL for NULL has an entry for it, and stays coded.
func TestEntryOfNull(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]column.Value{ // of t0, t1 and NULL
		"coalesce(s, 'none')":                         {{Bytes: "t0"}, {Bytes: "t1"}, {Bytes: "none"}},
		"nullif(s, 't1')":                             {{Bytes: "t0"}, {Null: true}, {Null: true}},
		"case when s is null then 1 else 2 end":       {{Int: 2}, {Int: 2}, {Int: 1}},
		"s = 't0' or s is null":                       {{Int: 1}, {}, {Int: 1}},
		"coalesce(nullif(s, 't0'), 'none') || '!'":    {{Bytes: "none!"}, {Bytes: "t1!"}, {Bytes: "none!"}},
		"case when s is null then null else 2.5 end":  {{Int: 25}, {Int: 25}, {Null: true}},
		"case when s = 't1' then upper(s) else s end": {{Bytes: "t0"}, {Bytes: "T1"}, {Null: true}},
	} {
		e := bindText(t, text).NewEval()
		for _, nulls := range []bool{false, true, false} {
			b := codedBatch(textDict(2, 0))
			v := &b.Cols[8]
			if nulls {
				v.Null = make([]bool, v.Len)
				for i := 0; i < v.Len; i += 5 {
					v.Null[i] = true
				}
			}
			var out column.Vector
			if err := e.Eval(b, &out); err != nil {
				t.Fatal(err)
			}
			if out.Dict == nil || !out.Valid() {
				t.Fatalf("%s: coded %v, valid %v", text, out.Dict != nil, out.Valid())
			}
			for i := range v.Len {
				x := want[v.Codes[i]]
				if v.IsNull(i) {
					x = want[2]
				}
				if got := out.At(i); got.Null != x.Null || !x.Null && (got.Bytes != x.Bytes || got.Int != x.Int) {
					t.Fatalf("%s, row %d: %+v, want %+v", text, i, got, x)
				}
			}
		}
	}
}
