package expr

import (
	"strings"
	"testing"
)

// What the table of other names says is in the language, and no name in it is one here.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, text := range Elsewhere() {
		if IsFunction(name) || name != strings.ToLower(name) {
			t.Errorf("%s is a function here, or not in lower case", name)
		}
		text, _, _ = strings.Cut(text, " of ")
		text, _, _ = strings.Cut(text, ", ")
		text = strings.ReplaceAll(text, " as type", " as int64")
		text = strings.ReplaceAll(text, "…", "")
		if strings.HasPrefix(text, "no window functions") || strings.HasPrefix(text, "--") || strings.Count(text, "(") != strings.Count(text, ")") {
			continue // what follows was cut
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Names that share letters by chance are not proposed.
func TestHints(t *testing.T) {
	t.Parallel()
	for name, senseless := range map[string]string{
		"pos": "cos", "lag": "log", "locate": "lcase", "isna": "isnan", "decode": "decade", "toyear": "isoyear", "todate": "today",
		"json_value": "json_valid", "concat_agg": "concat_ws", "is_null": "ifnull", "last_value": "any_value",
	} {
		names := append(FunctionNames(), "any_value")
		if hint := Hint(name, names); strings.Contains(hint, `"`+senseless+`"`) || Meant(name, []string{senseless}) != "" {
			t.Errorf("%s: %s", name, hint)
		}
	}
	for name, want := range map[string]string{"uper": "upper", "substrng": "substring", "nvl": "coalesce"} {
		if got := Meant(name, FunctionNames()); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
