package parquetio

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// tableOf makes a table of one file. A name with slashes is a nested leaf; one
// with ! in front cannot be read.
func tableOf(names ...string) *table {
	var leaves []leaf
	for i, n := range names {
		l := leaf{typ: column.Type{Kind: column.Int64}, index: i}
		if strings.HasPrefix(n, "!") {
			n, l.err = n[1:], errors.New("a list")
		}
		l.path = strings.Split(n, "/")
		l.name = strings.Join(l.path, ".")
		leaves = append(leaves, l)
	}
	t := newTable()
	t.add([]*dataFile{{file: &file{name: "f", leaves: leaves}}}, 0)
	return t
}

func TestFind(t *testing.T) {
	tab := tableOf("id", "Name", "name", "a.b", "a/b", "s/x", "s/Y", "dup", "dup", "Total", "!l/list/element", "", "#2", "emoji 🙂", "m\x00n")
	cases := []struct{ name, want string }{
		{"id", "0"},
		{"ID", "0"},
		{"Name", "1"},
		{"name", "2"},
		{"NAME", `ambiguous "Name" (#2) "name" (#3)`},
		{"a.b", "3"}, // the top-level name wins
		{"s.x", "5"},
		{"s.y", "6"},
		{"dup", `ambiguous "dup" (#8) "dup" (#9)`},
		{"total", "9"},
		{"l.list.element", "unsupported"},
		{"l", "unsupported"},
		{"L.list", "unsupported"},
		{"s", `unsupported "s.x" "s.Y"`},
		{"", "11"},
		{"#2", "12"}, // a column of that name wins
		{"#1", "0"},
		{"#8", "7"},
		{"#11", "unsupported"},
		{"#0", `unknown "#2"`},
		{"#99999999999999999999", "unknown"},
		{"emoji 🙂", "13"},
		{"m\x00n", "14"},
		{"totl", `unknown "Total"`},
		{"nme", `unknown "Name" "name"`},
		{"something else", "unknown"},
	}
	for _, c := range cases {
		i, err := tab.find(c.name)
		got := strconv.Itoa(i)
		var e *ColumnError
		if errors.As(err, &e) {
			got = [...]string{"unknown", "ambiguous", "unsupported"}[e.Kind]
			got = strings.Join(append([]string{got}, e.Candidates...), " ")
			if e.Name != c.name || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", c.name, err)
			}
		}
		if got != c.want {
			t.Errorf("%q: got %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}
