// Package tracetest reads timelines in tests.
package tracetest

import (
	"encoding/json"
	"slices"
	"testing"
)

// drawn is a timeline as a reader of the format sees it.
type drawn struct {
	TraceEvents []struct {
		Name, Ph string
		Pid, Tid int
		From     float64 `json:"ts"`
		Dur      float64
		Args     struct{ Name string }
	}
}

// Rows are the intervals of each row of a timeline by its name, as start and end in µs, in order.
// The test fails if intervals of a row overlap.
func Rows(t testing.TB, text string) map[string][][2]float64 {
	t.Helper()
	var d drawn
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	names, rows := map[int]string{}, map[string][][2]float64{}
	for _, e := range d.TraceEvents {
		switch {
		case e.Name == "thread_name":
			names[e.Tid] = e.Args.Name
		case e.Ph == "X":
			rows[names[e.Tid]] = append(rows[names[e.Tid]], [2]float64{e.From, e.From + e.Dur})
		}
	}
	for name, list := range rows {
		slices.SortFunc(list, func(a, b [2]float64) int { return int(1000 * (a[0] - b[0])) })
		for i := range list[:len(list)-1] {
			if list[i][1] > list[i+1][0]+0.0005 { // of the sum of two floats
				t.Errorf("%s: %v and %v overlap", name, list[i], list[i+1])
			}
		}
	}
	return rows
}
