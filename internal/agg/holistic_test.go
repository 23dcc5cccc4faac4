package agg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// memoryRuns keeps runs in memory.
type memoryRuns struct {
	mu     sync.Mutex
	blocks [][]byte
	most   int // bytes of a block
}

func (r *memoryRuns) Write(b []byte) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks = append(r.blocks, slices.Clone(b))
	r.most = max(r.most, len(b))
	return uint64(len(r.blocks)), nil
}

func (r *memoryRuns) Read(ref uint64, buf []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(buf[:0], r.blocks[ref-1]...), nil
}

// tiny makes every chain change its form at every occasion.
var tiny = limits{compact: 3, inline: 40, piece: 20, block: 24, fanIn: 2, look: 50}

// chainLayouts compiles calls in the ways that chains differ by.
func chainLayouts(calls []Call, rows int64) map[string]*Layout {
	out := map[string]*Layout{}
	for name, runs := range map[string]Runs{"in memory": nil, "with runs": &memoryRuns{}} {
		l := Compile(calls, testBase, Options{MaxRows: rows, Runs: runs})
		out[name] = l
		l = Compile(calls, testBase, Options{MaxRows: -1, Runs: runs})
		l.limits = tiny
		out[name+", tiny limits"] = l
	}
	return out
}

// literal makes a literal of a Go value: a number is a decimal of two digits
// behind the point for a float64.
func literal(v any) column.Value {
	switch v := v.(type) {
	case string:
		return column.Value{Type: column.Type{Kind: column.String}, Bytes: v}
	case int:
		return column.Value{Type: column.Type{Kind: column.Int64}, Int: int64(v)}
	case float64:
		return column.Value{Type: column.DecimalType(18, 2), Int: int64(v*100 + 0.5)}
	}
	return column.Value{}
}

// holistic is a call of an aggregate on argument 0.
type holistic struct {
	name  string
	param any
}

func (h holistic) call(t testing.TB, d *testData) Call {
	t.Helper()
	c := Call{Args: []int{0}, Types: []column.Type{d.args[0][0].Type}}
	if h.param != nil {
		c.Params = []column.Value{literal(h.param)}
	}
	var err error
	if c.Func, _, err = Resolve(h.name, c.Types, c.Params); err != nil {
		t.Fatal(err)
	}
	return c
}

// wants asks the oracle for the results of each group.
func (h holistic) wants(t testing.TB, d *testData) []oracle.Cell {
	t.Helper()
	schema := column.Schema{Fields: []column.Field{{Name: "x", Type: d.args[0][0].Type}}}
	q := oracle.Query{Aggs: []oracle.Agg{{Func: h.name, Args: []int{0}}}}
	if h.param != nil {
		q.Aggs[0].Param = literal(h.param)
	}
	var out []oracle.Cell
	for _, rows := range byGroup(d) {
		in := d.input(rows)
		b := column.Batch{Rows: len(rows), Cols: in.Args[:1]}
		r, err := oracle.Run([]column.Batch{b}, schema, q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Rows[0][0])
	}
	return out
}

// checkHolistic runs calls on d in every way and compares with the oracle.
func checkHolistic(t *testing.T, d *testData, list []holistic) {
	t.Helper()
	var calls []Call
	var wants [][]oracle.Cell
	for _, h := range list {
		calls = append(calls, h.call(t, d))
		wants = append(wants, h.wants(t, d))
	}
	for kind, l := range chainLayouts(calls, int64(len(d.gids))) {
		for name, way := range ways {
			rng := rand.New(rand.NewPCG(uint64(len(d.gids)), 1))
			got, err := way(l, d, rng).results(t, d.groups)
			if err != nil {
				t.Fatalf("%s, %s: %v", kind, name, err)
			}
			for c := range calls {
				for g, want := range wants[c] {
					if !cellOf(got[c][g]).Matches(want) {
						t.Fatalf("%s, %s: %v of group %d = %s, want %s", kind, name, list[c], g, cellOf(got[c][g]), want)
					}
				}
			}
		}
	}
}

// allKinds has a generator for every form that a value may have.
func allKinds() map[string]generator {
	out := map[string]generator{
		"float16": oddFloats(column.Float16), "float": floatsOf(column.Float32, func(r *rand.Rand) float64 { return float64(float32(r.NormFloat64())) }),
		"decimal(9,3)": decimals(9, 3), "decimal(18,0)": decimals(18, 0), "decimal(76,5)": decimals(76, 5),
		"date": intsOf(column.Date, func(r *rand.Rand) int64 { return int64(r.IntN(2000) - 1000) }),
		"timestamp": func(r *rand.Rand) column.Value {
			return column.Value{Type: column.TimestampType(column.Nano, true), Int: r.Int64() - r.Int64()}
		},
		"binary":    stringsOf(column.Type{Kind: column.Binary}),
		"repeating": intsOf(column.Int32, func(r *rand.Rand) int64 { return int64(r.IntN(5)) }),
		"repeating strings": func(r *rand.Rand) column.Value {
			return column.Value{Type: column.Type{Kind: column.String}, Bytes: strings.Repeat("ab", r.IntN(12))}
		},
	}
	for name, gen := range kinds {
		out[name] = gen
	}
	return out
}

// everyKind checks calls on columns of every type that the first takes.
func everyKind(t *testing.T, list ...holistic) {
	for name, gen := range allKinds() {
		typ := gen(testRand()).Type
		var params []column.Value
		if list[0].param != nil {
			params = append(params, literal(list[0].param))
		}
		if _, _, err := Resolve(list[0].name, []column.Type{typ}, params); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 33, 200} {
				for _, groups := range []int{1, 7, n + 1} {
					for _, nulls := range []string{"none", "some", "all"} {
						rng := rand.New(rand.NewPCG(uint64(n), uint64(groups)))
						d := randomData(rng, n, groups, nulls, []generator{gen})
						t.Run(fmt.Sprintf("rows=%d/groups=%d/nulls=%s", n, groups, nulls), func(t *testing.T) {
							checkHolistic(t, d, list)
						})
					}
				}
			}
		})
	}
}

func TestMedianQuantile(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"median", nil}, holistic{"quantile", 0.0}, holistic{"quantile", 0.29}, holistic{"quantile", 0.9},
		holistic{"quantile", 1.0}, holistic{"quantile_disc", 0.07}, holistic{"quantile_disc", 0.5}, holistic{"quantile_disc", 1.0})
}

func TestMad(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"mad", nil})
}

func TestMode(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"mode", nil})
}

func TestEntropy(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"entropy", nil})
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"histogram", nil})
}

func TestList(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"list", nil})
}

func TestStringAgg(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"string_agg", ", "}, holistic{"string_agg", ""})
}

func TestMinMaxN(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"min", 1}, holistic{"max", 8}, holistic{"min", 9}, holistic{"max", 30})
}

func TestTopK(t *testing.T) {
	t.Parallel()
	everyKind(t, holistic{"approx_top_k", 1}, holistic{"approx_top_k", 3}, holistic{"approx_top_k", 1000})
}

// TestQuantileLists protects that each element of a list of quantiles is the quantile of its share,
// of all types, in the order of the shares, one of which comes twice.
func TestQuantileLists(t *testing.T) {
	t.Parallel()
	shares := []any{0.9, 0.0, 0.29, 0.9, 1.0, 0.5}
	for kind, gen := range allKinds() {
		t.Run(kind, func(t *testing.T) {
			for _, n := range []int{0, 33, 200} {
				for _, groups := range []int{1, 7} {
					d := randomData(rand.New(rand.NewPCG(uint64(n), uint64(groups))), n, groups, "some", []generator{gen})
					var calls []Call
					for _, name := range []string{"quantile", "quantile_disc"} {
						list := Call{Args: []int{0}, Types: []column.Type{d.args[0][0].Type}}
						for _, p := range shares {
							calls = append(calls, holistic{name, p}.call(t, d))
							list.Params = append(list.Params, literal(p))
						}
						var err error
						if list.Func, _, err = Resolve(name+ListSuffix, list.Types, list.Params); err != nil {
							t.Fatal(err)
						}
						calls = append(calls, list)
					}
					checkLists(t, d, calls, len(shares))
				}
			}
		})
	}
}

// checkLists runs calls, of which each list stands behind the calls that give its n elements.
func checkLists(t *testing.T, d *testData, calls []Call, n int) {
	t.Helper()
	for kind, l := range chainLayouts(calls, int64(len(d.gids))) {
		for name, way := range ways {
			got, err := way(l, d, rand.New(rand.NewPCG(uint64(len(d.gids)), 1))).results(t, d.groups)
			if err != nil {
				t.Fatalf("%s, %s: %v", kind, name, err)
			}
			for c := n; c < len(calls); c += n + 1 {
				for g, list := range got[c] {
					if want := got[c-n][g]; list.Null || want.Null {
						if list.Null != want.Null {
							t.Fatalf("%s, %s: list %d of group %d is %v, an element %v", kind, name, c, g, list, want)
						}
						continue
					}
					if list.List.Elem.Len != n {
						t.Fatalf("%s, %s: %d elements, want %d", kind, name, list.List.Elem.Len, n)
					}
					for j := range n {
						want := got[c-n+j][g]
						if is := list.List.Elem.At(j); !cellOf(is).Matches(cellOf(want)) || is.Type != want.Type {
							t.Fatalf("%s, %s: element %d of group %d is %v, want %v", kind, name, j, g, is, want)
						}
					}
				}
			}
		}
	}
}

func cellOf(v column.Value) oracle.Cell { return oracle.CellOf(v) }
