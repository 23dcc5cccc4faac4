package state

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/query"
)

// The shares of an input are stretches that follow one another, and each row group is in that of
// the part that reads it (PART-ONCE).
func TestShares(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rows, of := int64(rng.IntN(5000)), 1+rng.IntN(60)
		at := int64(0)
		for i := range of {
			for _, s := range Share(rows, i+1, of) {
				if s[0] != at {
					t.Fatalf("part %d/%d of %d rows begins at %d, not %d", i+1, of, rows, s[0], at)
				}
				at = s[1]
			}
		}
		if at != rows {
			t.Fatalf("%d parts end at row %d of %d", of, at, rows)
		}
		for first := int64(0); first < rows; {
			n := min(1+int64(rng.IntN(200)), rows-first)
			taken := 0
			for i := range of {
				if !(query.Part{Number: i + 1, Of: of}).Takes(first, n, rows) {
					continue
				}
				taken++
				middle := first + n/2
				if own := Share(rows, i+1, of); len(own) == 0 || middle < own[0][0] || middle >= own[0][1] {
					t.Fatalf("part %d/%d of %d rows takes the row group from %d on, of %d rows, and has %v", i+1, of, rows, first, n, own)
				}
			}
			if taken != 1 {
				t.Fatalf("%d of %d parts take a row group", taken, of)
			}
			first += n
		}
	}
}

// Positions are those of the sources in an order that agrees with that of each state.
func TestUnionOrder(t *testing.T) {
	t.Parallel()
	a, b, c := Source{ID: "a", Rows: 10, Shares: [][2]int64{{0, 4}}}, Source{ID: "b", Rows: 5, Shares: [][2]int64{{0, 5}}}, Source{Rows: -1}
	more := Source{ID: "a", Rows: 10, Shares: [][2]int64{{4, 10}}}
	inner := unionOf(t, [][]Source{{b, c}})
	if m := inner.Move(0); m != nil {
		t.Errorf("what is first is moved by %v", m)
	}
	states := [][]Source{{a}, inner.Sources, {c, more}}
	u := unionOf(t, states)
	for i, want := range []map[int64]int64{ // positions before and after, in the order b, c, c, a
		{0: 5 + 2*unknownSpan, 9: 14 + 2*unknownSpan},
		{0: 0, 4: 4, 5: 5, 1000: 1000},
		{0: 5 + unknownSpan, unknownSpan: 5 + 2*unknownSpan, unknownSpan + 9: 14 + 2*unknownSpan},
	} {
		m := u.Move(i)
		for from, to := range want {
			if got := m.Position(from); got != to {
				t.Errorf("%v: position %d went to %d, want %d", states[i], from, got, to)
			}
		}
	}
	if got := u.Sources[3].Shares; !reflect.DeepEqual(got, [][2]int64{{0, 10}}) {
		t.Errorf("the shares of a are %v", got)
	}
	if err := u.Add("again", []Source{{ID: "a", Rows: 10, Shares: [][2]int64{{9, 10}}}}); err == nil || !strings.Contains(err.Error(), "rows 10 to 10 of the input are in other states too, the first of them state 0:") {
		t.Errorf("a row that is there twice: %v", err)
	}
}

// unionOf is the union of states.
func unionOf(t *testing.T, states [][]Source) *Union {
	t.Helper()
	u := &Union{}
	for i, sources := range states {
		if err := u.Add(fmt.Sprintf("state %d", i), sources); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Order(); err != nil {
		t.Fatal(err)
	}
	return u
}

// The order of sources is the first by which each is met of those that agree with all states; where
// none does, the error names a state for each step round.
func TestUnionOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ states, want string }{
		{"", ""},
		{"a b c", "a b c"},
		{"a b ba", "b a"},
		{"a b c ca", "b c a"},
		{"ab cb", "a c b"},
		{"ac b bc", "a b c"},
		{"cd bc ab", "a b c d"},
		{"d abc xb dx", "d a x b c"},
		{"ab ba", `state 1 has "b" before "a", state 0 has "a" before "b":`},
		{"x ab bc abc xcb y", `state 4 has "c" before "b", state 2 has "b" before "c":`},
		{"ab bc ca", `state 2 has "c" before "a", state 1 has "b" before "c", state 0 has "a" before "b":`},
		{"abc cd dexa ef", `state 2 has "d" before "a", state 1 has "c" before "d", state 0 has "a" before "c":`},
		{"? ?a b ba", "? ? b a"},
		{"ANy yN NA", `state 2 has input 2 of state 0 before "A", state 0 has "A" before input 2 of state 0:`},
	} {
		var u Union
		for i, letters := range strings.Fields(c.states) {
			var sources []Source
			for _, l := range letters {
				s := Source{ID: string(l), Name: string(l), Rows: 3}
				switch l {
				case '?':
					s.ID = ""
				case 'N':
					s.Name = ""
				}
				sources = append(sources, s)
			}
			if err := u.Add(fmt.Sprintf("state %d", i), sources); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		if err := u.Order(); err != nil {
			got = []string{err.Error()}
		} else {
			for _, s := range u.Sources {
				got = append(got, s.Name)
			}
		}
		if got := strings.Join(got, " "); got != c.want && (c.want == "" || !strings.HasSuffix(c.want, ":") || !strings.Contains(got, "in different orders of their inputs: "+c.want)) {
			t.Errorf("%s: %s, want %s", c.states, got, c.want)
		}
	}
}

// What no gagg has written is refused: other versions, damage, rows that cannot be.
func TestParseWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                      "is no JSON",
		`{}`:                                    "format 0",
		`{"version":4}`:                         "the states have format 4, and this gagg reads up to 3: take a newer one",
		`{"version":-1}`:                        "format -1",
		`{"version":1,"query":7}`:               "damaged",
		`{"version":1,"sources":[{"rows":-2}]}`: "the rows of the sources",
		`{"version":1,"sources":[{"rows":4611686018427387904},{"rows":1}]}`:       "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[3,6]]}]}`:                   "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[3,2]]}]}`:                   "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[0,3],[2,4]]}]}`:             "the rows of the sources",
		`{"version":1,"sources":[{"id":"a","rows":1},{"id":"a","rows":1}]}`:       "damaged: a source is named twice",
		`{"version":1,"sources":[{"rows":9223372036854775807,"shares":[[0,1]]}]}`: "the rows of the sources",
	} {
		if _, err := Parse(text, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Version 3 has checksums: states without them have lost them.
func TestParseUnchecked(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]bool{1: true, 2: true, 3: false} {
		if _, err := Parse(fmt.Sprintf(`{"version":%d}`, version), false); (err == nil) != want {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// The checksum of a row is that of the bytes that docs/state-format.md names, and no value can be
// told for another one.
func TestChecker(t *testing.T) {
	t.Parallel()
	codes := column.Vector{Type: column.Type{Kind: column.String}, Len: 4, Codes: []int32{0, 1, 1, 0}, Dict: &column.Dict{}}
	codes.Dict.Values = column.Vector{Type: codes.Type}
	flat := column.Vector{Type: codes.Type}
	for _, s := range []string{"ab", ""} {
		codes.Dict.Values.Append(column.Value{Bytes: s})
	}
	for _, s := range []string{"ab", "", "", "ab"} {
		flat.Append(column.Value{Bytes: s})
	}
	numbers := column.Vector{Type: column.Type{Kind: column.Int32}, Len: 4, Int: []int64{-2, -2, 0, 0}, Null: []bool{false, false, false, true}}
	var c Checker
	sums := c.Append(nil, []*column.Vector{&numbers, &flat}, 4)
	if again := c.Append(nil, []*column.Vector{&numbers, &codes}, 4); !slices.Equal(sums, again) {
		t.Errorf("%x of texts, %x of codes", sums, again)
	}
	row := append([]byte{1, 0xFE, 255, 255, 255, 255, 255, 255, 255, 1, 2, 0, 0, 0, 0, 0, 0, 0}, "ab"...)
	if want := int64(crc32.Checksum(row, crc32.MakeTable(crc32.Castagnoli))); sums[0] != want {
		t.Errorf("%x, want %x", sums[0], want)
	}
	slices.Sort(sums)
	if len(slices.Compact(sums)) != 4 {
		t.Errorf("%x: two rows look the same", sums)
	}
}
