package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/bench/device"
)

// line is a case with its figures.
type line struct {
	testCase
	figures
}

// report is the result file.
type report struct {
	device.Setting
	Rows   int           `json:"rows"`
	Device int64         `json:"device_bytes"`
	Link   float64       `json:"link_gb_per_s"`
	Lines  []line        `json:"lines"`
	Marks  []device.Mark `json:"marks"`
	name   string
}

// rate is GB/s of all rows in so many seconds.
func (r *report) rate(seconds float64) float64 { return float64(r.Rows) * rowBytes / 1e9 / seconds }

// marks are 90 % of the link: of the first pass, whatever the number of groups,
// with the streams that are used by default.
func (r *report) marks() (list []device.Mark) {
	worst := map[string]*line{}
	for i := range r.Lines {
		x := &r.Lines[i]
		if w := worst[x.Source]; x.Streams == r.Lines[0].Streams && (w == nil || x.First > w.First) {
			worst[x.Source] = x
		}
	}
	for _, source := range []string{pinned, pageable} {
		if x := worst[source]; x != nil {
			list = append(list, device.Mark{
				What: fmt.Sprintf("first pass, %s, the slowest: %d groups", source, x.Groups),
				Got:  100 * r.rate(x.First) / r.Link, Want: 90, Unit: "% of the link",
			})
		}
	}
	return list
}

// table is the report as Markdown.
func (r *report) table() []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "# Out of core\n\n%s\n\n", &r.Setting)
	fmt.Fprintf(&w, "%d rows of %d bytes in host memory, %s of device memory. Plain copies of them: %.4g GB/s.\n\n",
		r.Rows, rowBytes, humanize.IBytes(uint64(r.Device)), r.Link)
	fmt.Fprint(&w, "| groups | source | streams | first pass s | GB/s | of the link, % | of it Finish s | second s | all, GB/s | on the device | table slots | rest, million rows "+
		"| evicted, million rows | full buckets | left, million rows |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|\n")
	for _, x := range r.Lines {
		inCore := "no"
		if x.Pass.InCore {
			inCore = "yes"
		}
		fmt.Fprintf(&w, "| %d | %s | %d | %.3f | %.4g | %.3g | %.3f | %.3f | %.4g | %s | %d | %.4g | %.4g | %d | %.4g |\n",
			x.Groups, x.Source, x.Streams, x.First, r.rate(x.First), 100*r.rate(x.First)/r.Link, x.Finish, x.Second, r.rate(x.total()), inCore,
			x.Pass.Slots, float64(x.Pass.RestRows)/1e6, float64(x.Pass.WrittenRows+x.Pass.RetainedRows)/1e6, x.Buckets.Full, float64(x.Buckets.Left)/1e6)
	}
	r.buckets(&w)
	r.kept(&w)
	return w.Bytes()
}

// leftRate is GB/s of the rows that left the device, in the second pass.
func (f *figures) leftRate() float64 {
	return float64(f.Pass.WrittenBytes+f.Pass.RetainedBytes) / 1e9 / f.Second
}

// kept says what became of rows that stayed in pinned memory, and how fast all goes where that is
// pinned already.
func (r *report) kept(w *bytes.Buffer) {
	fmt.Fprint(w, "\nRows that stayed in the pinned memory they left to. Warm: in another run, which found it pinned.\n\n| groups | source | streams | million rows | MB | pinning, s of all goroutines | unpinning s "+
		"| first pass s | GB/s | of the link, % | second s | GB/s | of the link, % | warm: first pass s | GB/s | of the link, % | second s | GB/s | of the link, % |\n"+
		"|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, x := range r.Lines {
		if x.Warm == nil {
			continue
		}
		fmt.Fprintf(w, "| %d | %s | %d | %.4g | %.4g | %.3f | %.3f |", x.Groups, x.Source, x.Streams,
			float64(x.Pass.RetainedRows)/1e6, float64(x.Pass.RetainedBytes)/1e6, x.Pass.Pinning.Seconds(), x.Unpin)
		for _, f := range []*figures{&x.figures, x.Warm} {
			fmt.Fprintf(w, " %.3f | %.4g | %.3g | %.3f | %.4g | %.3g |", f.First, r.rate(f.First), 100*r.rate(f.First)/r.Link, f.Second, f.leftRate(), 100*f.leftRate()/r.Link)
		}
		fmt.Fprintln(w)
	}
}

// buckets says where the time of rows went that were on the host in between: core-seconds, of all
// goroutines together.
func (r *report) buckets(w *bytes.Buffer) {
	fmt.Fprint(w, "\nRows that left the device; seconds of all goroutines together.\n\n| groups | source | streams | evictions | lanes waiting | evictors waiting | placing | second pass: GB/s of such rows "+
		"| of the link, % | making passes | loading | emptying | of both, waiting | giving memory back |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, x := range r.Lines {
		if b := x.Buckets; !x.Pass.InCore {
			rate := x.leftRate()
			fmt.Fprintf(w, "| %d | %s | %d | %d | %.3f | %.3f | %.3f | %.4g | %.3g | %.3f | %.3f | %.3f | %.3f | %.3f |\n", x.Groups, x.Source, x.Streams, x.Pass.Evictions,
				x.Pass.LanesWait.Seconds(), x.Pass.EvictorsWait.Seconds(), x.Writing,
				rate, 100*rate/r.Link, b.Open, b.Add, b.End, b.Wait, b.Free)
		}
	}
}

// publish saves the result files, and prints the table and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Marks = r.marks()
	fmt.Fprintf(w, "%s\n", r.table())
	if err := r.SaveAll(w, dir, map[string][]byte{r.name + ".json": device.JSON(r), r.name + ".md": r.table()}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	device.PrintMarks(w, r.Marks)
	return nil
}
