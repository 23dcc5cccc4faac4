package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gagg-dev/gagg/bench/device"
)

// point is a case with its figures.
type point struct {
	testCase
	figures
}

// report is the result file.
type report struct {
	device.Setting
	Rows     int     `json:"rows"`
	RowBytes int     `json:"row_bytes"`
	Points   []point `json:"points"`
}

// agree wants the same number of groups of all cases with the same rows.
func (r *report) agree() error {
	groups := map[int]int64{}
	for _, p := range r.Points {
		if n, seen := groups[p.Repeats]; seen && n != p.Groups {
			return fmt.Errorf("%+v finds %d groups, others %d", p.testCase, p.Groups, n)
		}
		groups[p.Repeats] = p.Groups
	}
	return nil
}

// table is the report as Markdown. Lines with passes are compared with the line without before
// them.
func (r *report) table() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "### The second pass\n\n%s\n\n%d rows of %d bytes, in pages of host memory.\n\n", &r.Setting, r.Rows, r.RowBytes)
	fmt.Fprintln(&w, "| mergers | partitions | rows of a group | passes | device memory | million rows/s | GB/s | of the CPU's | rows on the device | buckets full | rounds | waiting |")
	fmt.Fprintln(&w, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	cpu := 0.
	for _, p := range r.Points {
		line := fmt.Sprintf("| %d | %d | %d |", p.Mergers, 1<<p.Bits, p.Repeats)
		if p.Passes == 0 {
			cpu = p.Rate
			fmt.Fprintf(&w, "%s | | %.4g | %.3g | | | | | |\n", line, p.Rate, p.GB)
			continue
		}
		fmt.Fprintf(&w, "%s %d | %d MiB | %.4g | %.3g | %.3g | %.3g %% | %d | %d | %.3g %% |\n",
			line, p.Passes, p.Memory>>20, p.Rate, p.GB, p.Rate/cpu, 100*p.Device, p.Full, p.Rounds, 100*p.Wait)
	}
	return w.Bytes()
}

// publish saves the result files and prints the table.
func (r *report) publish(w io.Writer, dir string) error {
	fmt.Fprintf(w, "%s\n", r.table())
	return r.SaveAll(w, dir, map[string][]byte{"buckets.json": device.JSON(r), "buckets.md": r.table()})
}
