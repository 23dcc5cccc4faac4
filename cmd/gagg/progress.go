package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"github.com/gagg-dev/gagg"
)

// bar shows the progress of a run on stderr. Workers only store counters. One goroutine draws the
// bar all the time: if its clock stood still, the run would seem to hang.
//
// On a terminal it is a line that is drawn over itself. It leaves the cursor at the beginning of
// the line, so that other output covers it. Erasing from there to the end of the screen then
// erases all of it, even if a terminal that was made narrower has broken it into two lines. Where
// stderr is no terminal, the bar is lines without control characters.
//
// NO-TRACE: nothing of the bar is on the screen when something else is written to it. finish
// removes it for good, before the first byte of a visible result and before the end; beside
// removes it for a line of the log.
type bar struct {
	w       io.Writer
	view    view
	since   time.Time
	after   estimator
	writing writing // the cost of writing the values of the result

	mu       sync.Mutex // guards what follows, and writing to w
	now      gagg.Progress
	reported bool // now was reported by the run
	drawn    bool // the bar is on the screen
	share    float64
	said     string    // the step of the last line
	next     time.Time // when the next line is due

	work   worked    // as it was when it was looked at last
	worked time.Time // when that was

	stop     func() // ends draw; the second call does nothing
	stopping chan struct{}
	stopped  chan struct{}
}

// view is what the bar is drawn on.
type view struct {
	width func() int  // columns of the terminal now; nil: it is none, and gets lines
	front func() bool // the process is in the foreground of the terminal
	ascii bool
	delay time.Duration // before it is drawn first
}

const (
	// redrawEvery is how often the bar is drawn: smooth to the eye, and cheap.
	redrawEvery = 100 * time.Millisecond
	// drawAfter is the delay of a bar that was not asked for. A shorter run is over before a bar
	// can be read, and the bar would only flicker.
	drawAfter = 300 * time.Millisecond
	// lineEvery is the time between lines where there is no terminal.
	lineEvery = 10 * time.Second
	// settled is the time after which rates and estimates are shown.
	settled = 2 * time.Second
)

// startBar begins to draw on w.
func startBar(w io.Writer, v view, after estimator) *bar {
	b := &bar{w: w, view: v, after: after, since: time.Now(), stopping: make(chan struct{}), stopped: make(chan struct{})}
	b.stop = sync.OnceFunc(func() { close(b.stopping) })
	go b.draw()
	return b
}

// Progress takes the counters of the run; any worker may call it.
func (b *bar) Progress(p gagg.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reported = true
	if p.BytesTotal < 0 { // nobody knows how much there is to read
		p.BytesDone, p.BytesTotal = 0, 0
	}
	// Reports of several workers may arrive out of order. The bar must not go back.
	if p.Phase == gagg.PhaseOutput {
		b.now.Phase = p.Phase
	}
	for _, c := range []struct {
		to *int64
		n  int64
	}{
		{&b.now.BytesDone, p.BytesDone},
		{&b.now.BytesTotal, p.BytesTotal},
		{&b.now.RowsDone, p.RowsDone},
		{&b.now.Groups, p.Groups},
		{&b.now.BytesSpilled, p.BytesSpilled},
	} {
		*c.to = max(*c.to, c.n)
	}
	b.now.GroupsTotal = p.GroupsTotal
	b.now.Partitions, b.now.PartitionsMerged = max(b.now.Partitions, p.Partitions), max(b.now.PartitionsMerged, p.PartitionsMerged)
}

// wide tells which columns the result has. The bar may be nil.
func (b *bar) wide(schema *arrow.Schema) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after.write = b.writing.group(schema)
}

// finish removes the bar from the screen. The bar may be nil, or finished
// already.
func (b *bar) finish() {
	if b == nil {
		return
	}
	b.stop()
	<-b.stopped
}

// beside calls write, which writes to the screen, while the bar is removed. The bar may be nil.
func (b *bar) beside(write func()) {
	if b == nil {
		write()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear() // NO-TRACE
	write()
}

func (b *bar) draw() {
	defer close(b.stopped)
	if b.view.delay > 0 { // without one there is a bar, however short the run is
		select {
		case <-b.stopping:
			return
		case <-time.After(b.view.delay):
		}
	}
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		b.beat(time.Now())
		select {
		case <-b.stopping:
			b.beside(func() {})
			return
		case <-ticker.C:
		}
	}
}

// eraseBelow erases from the cursor to the end of the screen.
const eraseBelow = "\x1b[J"

// clear removes the bar.
func (b *bar) clear() {
	if b.drawn {
		_, _ = io.WriteString(b.w, "\r"+eraseBelow)
		b.drawn = false
	}
}

// beat draws the bar, or writes a line, for the time `at`.
func (b *bar) beat(at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	elapsed := at.Sub(b.since)
	if b.work.ran == 0 || at.Sub(b.worked) >= sampleEvery {
		b.work, b.worked = workedSoFar(), at
	}
	total := b.after.total(b.now, elapsed, b.work)
	if total > 0 && elapsed > settled {
		b.share = max(b.share, min(float64(elapsed)/float64(total), 0.99))
	}
	s := status{now: b.now, reported: b.reported, elapsed: elapsed, total: total, ordered: b.after.ordered}
	s.now.GroupsTotal = b.after.wanted(b.now.GroupsTotal, b.after.most)
	if b.view.width == nil {
		b.line(at, s)
		return
	}
	if !b.view.front() {
		b.drawn = false // the shell redraws the line
		return
	}
	width := b.view.width()
	if width < leastWidth {
		return
	}
	_, _ = io.WriteString(b.w, "\r"+frame(s, b.share, width-1, b.view.ascii)+eraseBelow+"\r")
	b.drawn = true
}

// line writes a line if one is due: when a step begins, and every lineEvery.
func (b *bar) line(at time.Time, s status) {
	step := s.step()
	if step == b.said && at.Before(b.next) {
		return
	}
	b.said, b.next = step, at.Add(lineEvery)
	_, _ = fmt.Fprintf(b.w, "gagg: %s\n", strings.Join(s.parts(), ", "))
}

// status is the data for the text of the bar.
type status struct {
	now            gagg.Progress
	reported       bool
	elapsed, total time.Duration // total: 0 if it is not known
	ordered        bool
}

// step names what the run does.
func (s *status) step() string {
	switch p := s.now; {
	case !s.reported:
		return "opening"
	case p.Phase != gagg.PhaseOutput && p.BytesTotal > 0 && p.BytesDone >= p.BytesTotal:
		return "grouping"
	case p.Phase != gagg.PhaseOutput:
		return "reading"
	case p.PartitionsMerged < p.Partitions:
		return "merging"
	case s.ordered && p.Groups == 0:
		return "ordering"
	}
	return "writing"
}

// detail is the progress of that step; "": there is nothing to say.
func (s *status) detail() string {
	switch p := s.now; s.step() {
	case "reading":
		if p.BytesTotal <= 0 {
			return humanize.Comma(p.RowsDone) + " rows"
		}
		return fmt.Sprintf("%s of %s", byteText(p.BytesDone), byteText(p.BytesTotal))
	case "merging":
		return fmt.Sprintf("%d of %d", p.PartitionsMerged, p.Partitions)
	case "writing":
		if p.GroupsTotal > p.Groups {
			return fmt.Sprintf("%s of %s groups", shortCount(p.Groups), shortCount(p.GroupsTotal))
		}
		return humanize.Comma(p.Groups) + " groups"
	}
	return ""
}

// shortCount is 950, 1.2k, 34M.
func shortCount(n int64) string {
	value, prefix := humanize.ComputeSI(float64(n))
	return humanize.FtoaWithDigits(value, 1) + prefix
}

func byteText(n int64) string { return humanize.Bytes(uint64(n)) }

// clock is the time that has passed and, after the text of, the estimate for the whole run.
func (s *status) clock(of string) string {
	text := clockText(s.elapsed)
	if s.total > 0 && s.elapsed > settled {
		text += of + clockText(s.total)
	}
	return text
}

// clockText is 0:07, 12:34 or 1:02:03.
func clockText(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// parts are all parts of the text, the most important first.
func (s *status) parts() []string {
	what := s.step()
	if d := s.detail(); d != "" {
		what += " " + d
	}
	parts := []string{what, s.clock(" of about ")}
	if s.now.BytesSpilled > 0 {
		parts = append(parts, byteText(s.now.BytesSpilled)+" spilled")
	}
	if s.step() == "reading" && s.elapsed > settled && s.now.BytesTotal > 0 {
		parts = append(parts, byteText(int64(float64(s.now.BytesDone)/s.elapsed.Seconds()))+"/s")
	}
	return parts
}

// These are widths of a frame: a percentage, the bar between its ends, blanks, and the text.
const (
	besideBar  = len(" 100% || ") + 1
	leastBar   = 6
	mostBar    = 30
	leastWidth = 10
)

// frame is the line of a bar, of at most that many columns. It has all parts of the text that fit.
func frame(s status, share float64, columns int, ascii bool) string {
	parts := s.parts()
	texts := []string{s.step() + " " + s.clock("/"), s.clock("/"), clockText(s.elapsed)}
	for n := 2; n <= len(parts); n++ {
		texts = append([]string{strings.Join(parts[:n], ", ")}, texts...)
	}
	for _, text := range texts {
		if room := columns - besideBar - utf8.RuneCountInString(text); room >= leastBar {
			return drawBar(text, share, min(room, mostBar), ascii)
		}
	}
	return clockText(s.elapsed)
}

// drawBar is a percentage, a bar of a width, and a text.
func drawBar(text string, share float64, width int, ascii bool) string {
	const full = 1000
	theme := progressbar.ThemeDefault
	if ascii {
		theme = progressbar.ThemeASCII
	}
	p := progressbar.NewOptions64(full,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetTheme(theme),
		progressbar.OptionSetDescription(text),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine of its own draws on
	)
	_ = p.Set64(int64(share * full))
	p.Describe(text) // draws, even if the share is the same
	return strings.TrimRight(strings.TrimPrefix(p.String(), "\r"), " ")
}
