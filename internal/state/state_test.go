package state

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/query"
)

// The shares of an input are stretches that follow one another, and each row group is in that of
// the part that reads it (PART-ONCE).
func TestShares(t *testing.T) {
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

// Positions are those of the sources in the order in which they are first met, whatever the tree.
func TestUnionOrder(t *testing.T) {
	a, b, c := Source{ID: "a", Rows: 10, Shares: [][2]int64{{0, 4}}}, Source{ID: "b", Rows: 5, Shares: [][2]int64{{0, 5}}}, Source{Rows: -1}
	more := Source{ID: "a", Rows: 10, Shares: [][2]int64{{4, 10}}}
	var inner Union
	places, err := inner.Add("bc", []Source{b, c})
	if err != nil || !slices.Equal(places, []int{0, 1}) {
		t.Fatal(places, err)
	}
	if m := inner.Move([]Source{b, c}, places); m != nil {
		t.Errorf("what is first is moved by %v", m)
	}
	var u Union
	for _, s := range []struct {
		name    string
		sources []Source
		want    map[int64]int64 // positions before and after
	}{
		{"a", []Source{a}, map[int64]int64{0: 0, 9: 9}},
		{"bc", inner.Sources, map[int64]int64{0: 10, 4: 14, 5: 15, 1000: 1010}},
		{"more and b's kin", []Source{c, more}, map[int64]int64{0: 15 + unknownSpan, unknownSpan: 0, unknownSpan + 9: 9}},
	} {
		places, err := u.Add(s.name, s.sources)
		if err != nil {
			t.Fatal(err)
		}
		m := u.Move(s.sources, places)
		for from, to := range s.want {
			if got := m.Position(from); got != to {
				t.Errorf("%s: position %d went to %d, want %d", s.name, from, got, to)
			}
		}
	}
	if got := u.Sources[0].Shares; !reflect.DeepEqual(got, [][2]int64{{0, 10}}) {
		t.Errorf("the shares of a are %v", got)
	}
	if _, err := u.Add("again", []Source{{ID: "a", Rows: 10, Shares: [][2]int64{{9, 10}}}}); err == nil || !strings.Contains(err.Error(), "rows 10 to 10 of the input are in other states too, the first of them a:") {
		t.Errorf("a row that is there twice: %v", err)
	}
}

// What no gagg has written is refused: other versions, damage, rows that cannot be.
func TestParseWrong(t *testing.T) {
	for text, want := range map[string]string{
		``:                                      "is no JSON",
		`{}`:                                    "format 0",
		`{"version":2}`:                         "the states have format 2, and this gagg reads up to 1: take a newer one",
		`{"version":-1}`:                        "format -1",
		`{"version":1,"query":7}`:               "damaged",
		`{"version":1,"sources":[{"rows":-2}]}`: "the rows of the sources",
		`{"version":1,"sources":[{"rows":4611686018427387904},{"rows":1}]}`:       "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[3,6]]}]}`:                   "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[3,2]]}]}`:                   "the rows of the sources",
		`{"version":1,"sources":[{"rows":5,"shares":[[0,3],[2,4]]}]}`:             "the rows of the sources",
		`{"version":1,"sources":[{"rows":9223372036854775807,"shares":[[0,1]]}]}`: "the rows of the sources",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
