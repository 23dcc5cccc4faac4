package expr

import (
	"slices"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/column"
)

// momentFunctions stand for the time of a query, which is the same for all its rows. AtMoment puts
// that time in their place before anything is bound.
var momentFunctions = []function{
	{
		name: "now", also: []string{"current_timestamp", "get_current_timestamp", "transaction_timestamp"}, section: sectionDate,
		params: []param{}, result: gives(timestamptzType), bind: noMoment,
		doc: "the time at which the query began, the same for all rows; `current_timestamp` without parentheses too",
	},
	{
		name: "today", also: []string{"current_date"}, section: sectionDate, params: []param{}, result: gives(dateType), bind: noMoment,
		doc: "its date, in UTC; `current_date` without parentheses too",
	},
}

// noMoment binds a function that stands for the time of a query where there is none.
func noMoment(c *call) (*bound, error) {
	return nil, typeErrorf("%s is the time of a query, and there is none here", c.n.Name)
}

// AtMoment puts a time in the place of now(), today() and their other names, of these also without
// parentheses where isColumn says that there is no such column. used: there was one.
func AtMoment(n Node, at time.Time, isColumn func(name string) bool) (_ Node, used bool) {
	n = Rewrite(n, func(n Node) (Node, bool) {
		name := ""
		switch n := n.(type) {
		case *Call:
			if len(n.Args) == 0 && !n.Star && n.Filter == nil {
				name = n.Name
			}
		case *Column:
			if name = strings.ToLower(n.Name); !strings.HasPrefix(name, "current_") || isColumn(n.Name) {
				return n, false
			}
		}
		v := column.Value{Type: timestamptzType, Int: at.UnixMicro()}
		switch {
		case momentFunctions[0].isCalled(name):
		case momentFunctions[1].isCalled(name):
			v = column.Value{Type: dateType, Int: floorDiv(v.Int, microsPerDay)}
		default:
			return n, false
		}
		used = true
		return &Literal{At: n.Pos(), Value: v}, true
	})
	return n, used
}

// isCalled reports whether name is one of the function's names.
func (f *function) isCalled(name string) bool {
	return f.name == name || slices.Contains(f.also, name)
}
