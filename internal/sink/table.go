package sink

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// headRows is how many rows at most settle how wide the columns of a table of all rows are.
	headRows  = 10_000
	minColumn = 8 // text columns are not cut shorter than this to fit a line
	cut       = "…"
)

// tableWriter draws a table for people. It keeps rows until the widest value of each column is
// known: that is the width of the column.
//
// A table with a limit (Options.MaxRows) shows as many rows, or as many as there is room for, and
// counts the others. A table of all rows is drawn in parts, each as large as there is room for. A
// value wider than all in the parts before makes its part wider, and only cells too long for any
// table are cut.
type tableWriter struct {
	out    io.Writer
	rows   *rowReader
	shown  *shown
	width  int
	all    bool        // all rows are shown
	max    int         // rows of the table, or of a part
	header table.Row   // of the first part; nil once that is drawn
	wait   []table.Row // to be drawn
	bar    *tableBar   // nil: there are no bars
	widest []int       // of each column, in terminal columns
	left   int64       // rows not shown
	bottom string      // line of the first part, once that is drawn

	room  int   // bytes of the table that is drawn
	most  int   // bytes of a cell
	bytes []int // of the longest cell of each column
	cell  []byte
}

// tableShare is the divisor of the memory that gives the most for a table, which is held several
// times while it is drawn. A cell has a part of that, so that the first row is always shown.
const (
	tableShare      = 8
	usualTableBytes = 64 << 20
	mostCell        = 64 << 10 // bytes
)

func newTableWriter(out io.Writer, rows *rowReader, o Options) (Writer, error) {
	bar, err := newTableBar(rows.fields, o.Bar)
	if err != nil {
		return nil, err
	}
	w := &tableWriter{out: out, rows: rows, shown: newShown(rows.fields), width: o.Width, max: o.MaxRows, bar: bar}
	if w.max == 0 {
		w.all, w.max = true, headRows
	}
	if w.room = int(o.Memory / tableShare); w.room == 0 {
		w.room = usualTableBytes
	}
	w.most = max(minColumn, min(mostCell, w.room/2/max(len(rows.fields), 1)))
	w.bytes = make([]int, len(rows.fields))
	w.widest = make([]int, len(rows.fields))
	for c, f := range rows.fields {
		name := string(AppendVisible(nil, []byte(f.Name), ""))
		w.header, w.widest[c] = append(w.header, name), text.StringWidth(name)
	}
	if bar != nil {
		w.header, w.widest = append(w.header, ""), append(w.widest, barWidth)
	}
	return w, nil
}

func (w *tableWriter) Write(rec arrow.Record) error {
	n := int(rec.NumRows())
	if !w.all {
		n = min(n, w.max-len(w.wait))
		w.left += rec.NumRows() - int64(n)
	}
	if n == 0 {
		return nil
	}
	if _, err := w.rows.read(rec); err != nil {
		return err
	}
	for i := range n {
		row := make(table.Row, len(w.rows.vectors))
		for c := range w.rows.vectors {
			w.cell = w.shown.append(w.cell[:0], c, &w.rows.vectors[c], i)
			row[c] = w.cutCell()
		}
		if err := w.append(row); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWriter) large() int64 { return largeText }

func (w *tableWriter) writeLarge(rec arrow.Record) error {
	if !w.all && len(w.wait) == w.max {
		w.left++
		return nil
	}
	if err := w.rows.readLarge(rec); err != nil {
		return err
	}
	row := make(table.Row, len(w.rows.vectors))
	for c := range row {
		if err := w.readCell(rec, c); err != nil {
			return err
		}
		row[c] = w.cutCell()
	}
	return w.append(row)
}

// errEnough ends the text of a cell that is cut anyway.
var errEnough = errors.New("enough")

// readCell sets the cell to the text of a column, or to more of it than is shown.
func (w *tableWriter) readCell(rec arrow.Record, c int) error {
	v := &w.rows.vectors[c]
	if w.cell = w.cell[:0]; v.IsNull(0) || w.shown.forms[c] < freeText {
		w.cell = w.shown.append(w.cell, c, v, 0)
		return nil
	}
	err := w.rows.cell(rec, c, w.shown.value[c], func(piece []byte) error {
		if w.cell = AppendVisible(w.cell, piece, ""); len(w.cell) > w.most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// cutCell is the cell, as far as there is room for it.
func (w *tableWriter) cutCell() string {
	if len(w.cell) <= w.most {
		return string(w.cell)
	}
	end := w.most
	for end > 0 && !utf8.RuneStart(w.cell[end]) {
		end--
	}
	return string(w.cell[:end]) + cut
}

// append shows a row, if there is room for it, or where all are shown.
func (w *tableWriter) append(row table.Row) error {
	line := 0
	for c := range row {
		line += max(w.bytes[c], len(row[c].(string))) + frameBytes
	}
	if n := len(w.wait); n == w.max || n > 0 && (n+1)*line > w.room {
		if !w.all {
			w.max = n
			w.left++
			return nil
		}
		if err := w.drawPart(); err != nil {
			return err
		}
	}
	for c := range row {
		s := row[c].(string)
		w.bytes[c], w.widest[c] = max(w.bytes[c], len(s)), max(w.widest[c], text.StringWidth(s))
	}
	if w.bar != nil {
		w.bar.add(row[w.bar.column].(string))
	}
	w.wait = append(w.wait, row)
	return nil
}

// frameBytes is the width of a cell beside its text: a line and two blanks.
const frameBytes = 5

// draw is the lines of a table of the rows that wait, which are gone then.
func (w *tableWriter) draw() []string {
	t := table.NewWriter()
	if w.header != nil {
		t.AppendHeader(w.header)
	}
	fit := fitColumns
	if w.bar != nil {
		fit = fitBar
	}
	limits := fit(w.widest, w.isFixed, w.width)
	for i, row := range w.wait {
		if w.bar != nil {
			row = append(row, w.bar.bar(i, limits[len(row)]))
		}
		t.AppendRow(row)
	}
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault // names as they are, not in capitals
	style.Size.WidthMax = w.width            // the last resort: cuts whole lines
	t.SetStyle(style)
	t.SetColumnConfigs(w.columnConfigs(limits))
	w.header, w.wait = nil, w.wait[:0]
	if w.bar != nil {
		w.bar.reset()
	}
	return strings.Split(t.Render(), "\n")
}

// drawPart writes the rows that wait, between the lines above and below them. The first part has
// the header.
func (w *tableWriter) drawPart() error {
	lines := w.draw()
	last := len(lines) - 1
	if w.bottom == "" {
		w.bottom = lines[last]
	} else {
		lines = lines[1:]
		last--
	}
	_, err := io.WriteString(w.out, strings.Join(lines[:last], "\n")+"\n")
	return err
}

func (w *tableWriter) Close() error {
	if w.bottom != "" {
		if err := w.drawPart(); err != nil {
			return err
		}
		_, err := io.WriteString(w.out, w.bottom+"\n")
		return err
	}
	s := strings.Join(w.draw(), "\n") + "\n"
	if w.left > 0 {
		s += fmt.Sprintf("%s more rows not shown\n", humanize.Comma(w.left))
	}
	_, err := io.WriteString(w.out, s)
	return err
}

func (w *tableWriter) columnConfigs(limits []int) []table.ColumnConfig {
	configs := make([]table.ColumnConfig, len(w.widest))
	for c := range configs {
		configs[c] = table.ColumnConfig{Number: c + 1, WidthMin: limits[c], WidthMax: limits[c], WidthMaxEnforcer: snip}
		if w.isFixed(c) && !w.isBar(c) {
			configs[c].Align, configs[c].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	return configs
}

// isBar reports whether column c is that of bars.
func (w *tableWriter) isBar(c int) bool { return c == len(w.rows.fields) }

// isFixed reports whether column c is never cut: numbers and bars.
func (w *tableWriter) isFixed(c int) bool { return w.isBar(c) || w.shown.isRight(c) }

func snip(s string, width int) string { return text.Snip(s, width, cut) }

// fitBar is fitColumns where the last column is that of bars, which gives way first, and again
// where texts cannot any more. Of bars that would be cut there are none: all would be as long.
func fitBar(widest []int, isNumber func(int) bool, width int) []int {
	limits := slices.Clone(widest)
	last := len(limits) - 1
	over := func() int { return lineWidth(limits) - width }
	if width == 0 || over() <= 0 {
		return limits
	}
	limits[last] = max(limits[last]-over(), fairWidth)
	limits = fitColumns(limits, isNumber, width)
	if over() > 0 {
		limits[last] = max(limits[last]-over(), thinWidth)
	}
	if over() > 0 {
		limits[last] = 0
	}
	return limits
}

// lineWidth is how wide a table with columns of these widths is.
func lineWidth(columns []int) int {
	total := 1 // the frame: a line and two blanks a column, one more line
	for _, n := range columns {
		total += n + 3
	}
	return total
}

// fitColumns returns how wide each column may be so that the line fits in
// width: the widest text column gives way first, one column at a time, down
// to minColumn. A number is never cut. With width 0 nothing is.
func fitColumns(widest []int, isNumber func(int) bool, width int) []int {
	limits := append([]int(nil), widest...)
	total := lineWidth(limits)
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
