package main

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/gagg-dev/gagg/bench/device"
)

// report is the result file.
type report struct {
	device.Setting
	amounts
	Points    []point       `json:"points"`
	Resources []resource    `json:"resources"`
	Marks     []device.Mark `json:"marks"`
}

// point is a time that was measured.
type point struct {
	shape
	Way          string  `json:"way"`
	Rows         int     `json:"rows"`
	Tile         int     `json:"tile"` // rows; 0: as tuned
	Page         uint64  `json:"page"` // bytes, of chains
	Microseconds float64 `json:"microseconds"`
}

// rate is GB/s, of rows that are read once and written once, whatever else a way reads.
func (p *point) rate() float64 { return float64(2*8*p.Stride*p.Rows) / p.Microseconds / 1e3 }

// resource is what the driver made of a kernel.
type resource struct {
	Kernel    string `json:"kernel"`
	Registers int    `json:"registers"`
	Local     int    `json:"local"`
	Blocks    int    `json:"blocks"` // of the tuned size that a multiprocessor holds
}

// Shares of a copy's rate to be reached, in percent. Pieces read their rows twice where a copy
// reads them once, so that two thirds are the most; chains read them once.
const (
	markPieces = 60
	markChains = 80
)

// at is a point with the page and the tile of the command line; nil: not measured.
func (r *report) at(s shape, way string) *point { return r.with(s, way, r.Page, r.Tile) }

func (r *report) with(s shape, way string, page uint64, tile int) *point {
	for i := range r.Points {
		if p := &r.Points[i]; p.shape == s && p.Way == way && p.Page == page && p.Tile == tile {
			return p
		}
	}
	return nil
}

// share is a way's rate in percent of a copy's.
func (r *report) share(s shape, way string) float64 {
	p, c := r.at(s, way), r.at(s, wayCopy)
	if p == nil || c == nil {
		return 0
	}
	return 100 * p.rate() / c.rate()
}

func (r *report) marks() (list []device.Mark) {
	for _, way := range []string{wayPieces, wayChains} {
		want := float64(markPieces)
		if way == wayChains {
			want = markChains
		}
		for _, s := range []shape{{2, "uniform", 8}, {2, "uniform", 11}, {2, "one", 8}, {2, "zipf", 8}, {8, "uniform", 8}} {
			got := r.share(s, way)
			list = append(list, device.Mark{
				What: fmt.Sprintf("%s, rows of %d words, %d partitions, %s: of a copy's rate", way, s.Stride, 1<<s.Bits, s.Skew),
				Got:  got, Want: want, Unit: "%", None: got == 0,
			})
		}
	}
	return list
}

// publish saves the result files and prints the table and, last, the marks.
func (r *report) publish(w io.Writer, dir string) error {
	r.Marks = r.marks()
	var text bytes.Buffer
	r.table(&text)
	files := map[string][]byte{"scatter.json": device.JSON(r), "scatter.md": r.markdown(text.Bytes())}
	if err := r.SaveAll(w, dir, files); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\n%s\n", &r.Setting, &text)
	device.PrintMarks(w, r.Marks)
	return nil
}

func (r *report) markdown(table []byte) []byte {
	return fmt.Appendf(nil, "# Dividing rows in device memory\n\n```\n%s\n\n%s```\n", &r.Setting, table)
}

// table has a line a shape: GB/s of each way, and its share of a copy's.
func (r *report) table(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "words\tpartitions\tkeys\tcopy GB/s\tpaper 003\tpieces\tchains\tpieces/copy\tchains/copy\t")
	for _, s := range shapes() {
		fmt.Fprintf(t, "%d\t%d\t%s\t", s.Stride, 1<<s.Bits, s.Skew)
		for _, way := range []string{wayCopy, wayPaper, wayPieces, wayChains} {
			if p := r.at(s, way); p != nil {
				fmt.Fprintf(t, "%.0f\t", p.rate())
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintf(t, "%.0f %%\t%.0f %%\t\n", r.share(s, wayPieces), r.share(s, wayChains))
	}
	_ = t.Flush()
	fmt.Fprintln(w)
	r.triedTable(w)
	fmt.Fprintln(w)
	for _, k := range r.Resources {
		fmt.Fprintf(w, "%s: %d registers, %d bytes spilled, %d blocks a multiprocessor\n", k.Kernel, k.Registers, k.Local, k.Blocks)
	}
}

// triedTable has GB/s by rows of a tile.
func (r *report) triedTable(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "words\tpartitions\tkeys\tway\tpage\t")
	for _, tile := range tiles {
		fmt.Fprintf(t, "%d rows\t", tile)
	}
	fmt.Fprintln(t)
	for _, s := range tried {
		for _, way := range []string{wayPieces, wayChains} {
			for _, page := range r.Pages {
				fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%d\t", s.Stride, 1<<s.Bits, s.Skew, way, page)
				for _, tile := range tiles {
					if p := r.with(s, way, page, tile); p != nil {
						fmt.Fprintf(t, "%.0f\t", p.rate())
					} else {
						fmt.Fprint(t, "-\t")
					}
				}
				fmt.Fprintln(t)
			}
		}
	}
	_ = t.Flush()
}

// resources asks the driver about the kernels that move rows.
func (b *bench) resources() (list []resource, err error) {
	const threads, shared = 512, 96 << 10
	for _, source := range append(b.scatter.Parts(), b.chain.Parts()...) {
		f, err := b.thread.Context().Function(source)
		if err != nil {
			return nil, err
		}
		a, err := f.Attributes()
		if err != nil {
			return nil, err
		}
		blocks, err := f.Occupancy(threads, shared)
		if err != nil {
			return nil, err
		}
		list = append(list, resource{Kernel: f.Name(), Registers: a.Registers, Local: int(a.Local), Blocks: blocks})
	}
	return list, nil
}
