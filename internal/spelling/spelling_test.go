package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"ab", "abc", 1},
		{"kitten", "sitting", 3},
		{"ü", "u", 1},
		{"abc", "acb", 1},
		{"huor", "hour", 1},
		{"ab", "ba", 1},
	} {
		if got := edits(c.a, c.b, 10); got != c.want {
			t.Errorf("%q %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if edits("a", strings.Repeat("b", 100), 3) <= 3 {
		t.Error("long names must not be near")
	}
}

// What shares little with a name is not proposed for it.
func TestSimilar(t *testing.T) {
	t.Parallel()
	names := []string{"lower", "pow", "sum", "summed", "SUM", "substring"}
	for name, want := range map[string][]string{
		"power": nil, "locate": nil, "opw": {"pow"}, "pox": {"pow"}, "lowers": {"lower"}, "ower": {"lower"}, "uppwer": nil, "summ": {"sum", "SUM"}, "sumed": {"summed"}, "x": nil, "": nil, "upside": nil, "sbustring": {"substring"},
	} {
		if got := Similar(name, names, 2); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := Nearest("zzz", names); got != "" {
		t.Errorf("zzz: got %q", got)
	}
}
