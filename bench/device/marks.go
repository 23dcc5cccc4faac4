package device

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Mark is a figure that was to be reached.
type Mark struct {
	What   string  `json:"what"`
	Got    float64 `json:"got"`
	Want   float64 `json:"want"`
	AtMost bool    `json:"at_most,omitempty"` // the figure may not be above Want; else not below
	Unit   string  `json:"unit"`
	None   bool    `json:"none,omitempty"` // it was not measured
}

// Reached says whether the figure is where it has to be.
func (m Mark) Reached() bool {
	if m.AtMost {
		return !m.None && m.Got <= m.Want
	}
	return !m.None && m.Got >= m.Want
}

// PrintMarks writes the marks as a table.
func PrintMarks(w io.Writer, marks []Mark) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "mark\twanted\tgot\t")
	for _, m := range marks {
		bound, verdict := "≥", "reached"
		if m.AtMost {
			bound = "≤"
		}
		switch {
		case m.None:
			verdict = "not measured"
		case !m.Reached():
			verdict = "MISSED"
		}
		fmt.Fprintf(t, "%s\t%s %.4g %s\t%.4g\t%s\n", m.What, bound, m.Want, m.Unit, m.Got, verdict)
	}
	_ = t.Flush()
}
