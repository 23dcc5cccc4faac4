package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/bench/device"
)

// report is the result file.
type report struct {
	device.Setting
	amounts
	only   string        // contenders, if not all
	Pages  int           `json:"pages"` // of the pools
	Points []point       `json:"points"`
	Marks  []device.Mark `json:"marks"`
}

// names of contenders in the texts.
const (
	nameRW, nameRWBM, nameCoRW, nameCRW = "RW", "RW-BM", "CoRW", "CRW"
	nameQueue, nameSerial               = "queue", "serial queue"
)

// of are the points of a table that a filter wants, in the order measured.
func (r *report) of(table string, want func(*point) bool) (list []*point) {
	for i := range r.Points {
		if p := &r.Points[i]; p.Table == table && want(p) {
			list = append(list, p)
		}
	}
	return list
}

// wants says whether a contender is measured.
func (r *report) wants(c contender) bool {
	return r.only == "" || slices.Contains(strings.Split(r.only, ","), c.name())
}

// at is a point of the bursts; nil: not measured.
func (r *report) at(contender string, share float64, units int) *point {
	list := r.of("get", func(p *point) bool { return p.Contender == contender && p.Share == share && p.Units == units })
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// unique are the values of a field, in the order measured.
func unique[T comparable](list []*point, field func(*point) T) (values []T) {
	for _, p := range list {
		if v := field(p); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func contenderOf(p *point) string { return p.Contender }
func unitsOf(p *point) int        { return p.Units }
func all(*point) bool             { return true }

// publish saves the result files and prints what matters most: the largest
// bursts and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Pages = r.pages
	r.Marks = r.marks()
	files := map[string][]byte{"pages.json": device.JSON(r), "pages.md": r.markdown()}
	maps.Copy(files, r.plots())
	if err := r.SaveAll(w, dir, files); err != nil {
		return err
	}
	var summary bytes.Buffer
	r.summary(&summary)
	fmt.Fprintf(w, "%s\n\n%s\n", &r.Setting, &summary)
	device.PrintMarks(w, r.Marks)
	return nil
}
