package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// describe prints what the inputs hold.
func (c *command) describe(ctx context.Context) error {
	q, o, err := c.ask()
	if err != nil {
		return err
	}
	d, err := gagg.Describe(ctx, q.From, o)
	if err != nil {
		return err
	}
	if c.format == "json" || c.format == "ndjson" {
		return output(writeJSON(c.out, d))
	}
	return output(writeDescription(c.out, d))
}

func writeDescription(w io.Writer, d *gagg.Description) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\ttype")
	for _, column := range d.Columns {
		typ := column.Type
		if typ == "" {
			typ = "(cannot be used: " + oneLine(column.Err) + ")"
		}
		fmt.Fprintf(t, "%s\t%s\n", oneLine(column.Name), typ)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if d.States != "" {
		if _, err := fmt.Fprintf(w, "\nstates of %s: --merge finishes them\n", oneLine(d.States)); err != nil {
			return err
		}
	}
	if d.Rows < 0 {
		_, err := fmt.Fprintln(w, "\na stream; rows: not known")
		return err
	}
	_, err := fmt.Fprintf(w, "\nfiles: %s; rows: %s; row groups: %s; size: %s\n", humanize.Comma(int64(d.Files)),
		humanize.Comma(d.Rows), humanize.Comma(int64(d.RowGroups)), humanize.IBytes(uint64(d.Bytes)))
	return err
}

// explainPlan prints the plan of the query and does not run it.
func (c *command) explainPlan(ctx context.Context) error {
	q, o, err := c.ask()
	if err != nil {
		return err
	}
	format, err := c.resultFormat()
	if err != nil {
		return err
	}
	form := outputForm{format, c.compressionOf(format), c.output == "-"}
	share := shareOf(o.MemoryLimit, form)
	o.MemoryLimit, o.Slack = share.Query, share.Slack
	plan, err := gagg.Plan(ctx, q, o)
	if err != nil {
		return share.needError(err, form)
	}
	explained := explanation{plan, share}
	if c.explain == explainJSON {
		return output(writeJSON(c.out, explained))
	}
	// for people to read, as --schema, wherever it goes
	_, err = fmt.Fprintln(&screen{out: c.out}, explained)
	return output(err)
}

// explanation is a plan with the memory that the process needs beside the query.
type explanation struct {
	*gagg.QueryPlan
	Process share `json:"process"`
}

func (e explanation) String() string {
	if e.Process.Limit == 0 {
		return e.QueryPlan.String()
	}
	return e.QueryPlan.String() + "\nprocess      " + e.Process.String()
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// statistics is the output of --stats, and the closing line of --verbose. All fields are nil if
// neither is given.
type statistics struct {
	stderr io.Writer
	file   *sink.File
	log    io.Writer // for the closing line
}

func (c *command) createStats() (*statistics, error) {
	s := &statistics{}
	if c.verbose {
		s.log = c.log
	}
	switch c.stats {
	case "":
		return s, nil
	case statsToStderr:
		s.stderr = c.log
		return s, nil
	}
	f, err := c.createFile(c.stats)
	s.file = f
	return s, err
}

// collect returns what the run did, if the statistics are wanted.
func (s *statistics) collect(of *gagg.Rows) (did runStats) {
	if s.stderr == nil && s.file == nil && s.log == nil {
		return did
	}
	return runStats{of.Stats(), peakResident(systemFiles())}
}

// runStats is the content of --stats: what the run did, and what the system measured.
type runStats struct {
	gagg.Stats
	PeakRSS int64 `json:"peak_rss,omitempty"` // bytes of memory that the process held at most
}

// String is the closing line: what was read and how fast, and what it took.
func (s runStats) String() string {
	seconds := 0.0
	for _, p := range s.Phases {
		seconds += p.Seconds
	}
	groups := "groups"
	if s.Groups == 1 {
		groups = "group"
	}
	spilled := "nothing spilled"
	if s.SpilledBytes > 0 {
		spilled = byteText(s.SpilledBytes) + " spilled"
	}
	peak := s.PeakRSS
	if peak == 0 { // the system does not say
		peak = s.PeakMemory
	}
	return fmt.Sprintf("%s rows and %s read, %s %s, in %.1f s: %s rows/s, peak memory %s, %s, device %s",
		humanize.Comma(s.Rows), byteText(s.BytesRead), humanize.Comma(s.Groups), groups, seconds,
		shortCount(int64(s.RowsPerSecond)), byteText(peak), spilled, s.Device)
}

// writeFile writes the file, and makes it final.
func (s *statistics) writeFile(did runStats) error {
	if s.file == nil {
		return nil
	}
	out, _ := visibleFile(s.file)
	if err := writeJSON(out, did); err != nil {
		return output(err)
	}
	return output(s.file.Commit())
}

func (s *statistics) writeStderr(did runStats) error {
	if s.log != nil {
		if _, err := fmt.Fprintf(s.log, "gagg: %s\n", did); err != nil {
			return output(err)
		}
	}
	if s.stderr == nil {
		return nil
	}
	return output(writeJSON(s.stderr, did))
}

func (s *statistics) abort() {
	if s.file != nil {
		s.file.Abort()
	}
}
