package sink

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	defaultMaxRows = 10_000
	minColumn      = 8 // text columns are not cut shorter than this to fit a line
	cut            = "…"
)

// tableWriter draws a table for people. It keeps the rows it shows until
// Close, and counts the others.
type tableWriter struct {
	out    io.Writer
	rows   *rowReader
	shown  *shown
	width  int
	max    int
	table  table.Writer
	widest []int // of each column, in terminal columns
	left   int64 // rows not shown
}

func newTableWriter(out io.Writer, rows *rowReader, o Options) *tableWriter {
	w := &tableWriter{out: out, rows: rows, shown: newShown(rows.fields), width: o.Width, max: o.MaxRows, table: table.NewWriter()}
	if w.max == 0 {
		w.max = defaultMaxRows
	}
	header := make(table.Row, len(rows.fields))
	w.widest = make([]int, len(rows.fields))
	for c, f := range rows.fields {
		name := string(appendVisible(nil, appendUTF8(nil, []byte(f.Name))))
		header[c], w.widest[c] = name, text.StringWidth(name)
	}
	w.table.AppendHeader(header)
	return w
}

func (w *tableWriter) Write(rec arrow.Record) error {
	n := int(min(int64(w.max-w.table.Length()), rec.NumRows()))
	w.left += rec.NumRows() - int64(n)
	if n == 0 {
		return nil
	}
	if _, err := w.rows.read(rec); err != nil {
		return err
	}
	var cell []byte
	for i := range n {
		row := make(table.Row, len(w.rows.vectors))
		for c := range w.rows.vectors {
			cell = w.shown.append(cell[:0], c, &w.rows.vectors[c], i)
			s := string(cell)
			row[c], w.widest[c] = s, max(w.widest[c], text.StringWidth(s))
		}
		w.table.AppendRow(row)
	}
	return nil
}

func (w *tableWriter) Close() error {
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault // names as they are, not in capitals
	style.Size.WidthMax = w.width            // the last resort: cuts whole lines
	w.table.SetStyle(style)
	w.table.SetColumnConfigs(w.columnConfigs())
	s := w.table.Render() + "\n"
	if w.left > 0 {
		s += fmt.Sprintf("%s more rows not shown\n", humanize.Comma(w.left))
	}
	_, err := io.WriteString(w.out, s)
	return err
}

func (w *tableWriter) columnConfigs() []table.ColumnConfig {
	limits := fitColumns(w.widest, w.shown.isRight, w.width)
	configs := make([]table.ColumnConfig, len(w.widest))
	for c := range configs {
		configs[c] = table.ColumnConfig{Number: c + 1, WidthMax: limits[c], WidthMaxEnforcer: snip}
		if w.shown.isRight(c) {
			configs[c].Align, configs[c].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	return configs
}

func snip(s string, width int) string { return text.Snip(s, width, cut) }

// fitColumns returns how wide each column may be so that the line fits in
// width: the widest text column gives way first, one column at a time, down
// to minColumn. A number is never cut. With width 0 nothing is.
func fitColumns(widest []int, isNumber func(int) bool, width int) []int {
	limits := append([]int(nil), widest...)
	total := 1 // the frame: a line and two blanks a column, one more line
	for _, n := range limits {
		total += n + 3
	}
	for width > 0 && total > width {
		most, second := -1, minColumn
		for c, n := range limits {
			switch {
			case isNumber(c) || n <= minColumn:
			case most < 0 || n > limits[most]:
				if most >= 0 {
					second = max(second, limits[most])
				}
				most = c
			default:
				second = max(second, n)
			}
		}
		if most < 0 {
			break
		}
		less := max(1, min(total-width, limits[most]-second))
		limits[most] -= less
		total -= less
	}
	return limits
}
