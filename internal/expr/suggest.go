package expr

import "github.com/gagg-dev/gagg/internal/spelling"

// didYouMean is the end of a message about an unknown name.
func didYouMean(name string, candidates []string) string {
	if near := spelling.Nearest(name, candidates); near != "" {
		return " (did you mean \"" + near + "\"?)"
	}
	return ""
}
