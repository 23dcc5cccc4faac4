package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/bench/device"
)

// report is the result file.
type report struct {
	device.Setting
	amounts
	Ours  figures       `json:"gagg"`
	Peer  figures       `json:"cuda_cpp"` // empty without a peer
	Marks []device.Mark `json:"marks"`
}

// ratio of ours to the peer's; 0: not known.
func (r *report) ratio(name string) float64 {
	if r.Peer[name] == 0 {
		return 0
	}
	return r.Ours[name] / r.Peer[name]
}

// marks are what the layer has to reach: a launch below 5 µs, and 98 % of the
// peer's rate for pinned copies that are large enough to measure the link.
func (r *report) marks() []device.Mark {
	list := []device.Mark{{What: "launch, handed to the driver", Got: r.Ours["launch/issue"], Want: 5, AtMost: true, Unit: "µs"}}
	for _, way := range []string{"in", "out", "both"} {
		name := at("pinned/"+way, r.largest())
		ratio := r.ratio(name)
		list = append(list, device.Mark{What: title(name) + ", of CUDA C++", Got: 100 * ratio, Want: 98, Unit: "%", None: ratio == 0})
	}
	return list
}

// title is a figure's name for people.
func title(name string) string {
	parts := strings.Split(name, "/")
	if size, err := strconv.ParseUint(parts[len(parts)-1], 10, 64); err == nil {
		parts[len(parts)-1] = humanize.IBytes(size)
	}
	return strings.Join(parts, " ")
}

// table is the report as Markdown.
func (r *report) table() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "### Host and device\n\n%s\n\n| | unit | gagg | CUDA C++ | gagg ÷ C++ |\n|---|---|---:|---:|---:|\n", &r.Setting)
	for _, name := range r.names() {
		peer, ratio := "-", "-"
		if p, known := r.Peer[name]; known {
			peer, ratio = fmt.Sprintf("%.4g", p), fmt.Sprintf("%.3f", r.ratio(name))
		}
		fmt.Fprintf(&w, "| %s | %s | %.4g | %s | %s |\n", title(name), unit(name), r.Ours[name], peer, ratio)
	}
	return w.Bytes()
}

// publish saves the result files, and prints the table and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Marks = r.marks()
	fmt.Fprintf(w, "%s\n", r.table())
	if err := r.SaveAll(w, dir, map[string][]byte{"link.json": device.JSON(r), "link.md": r.table()}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	device.PrintMarks(w, r.Marks)
	return nil
}
