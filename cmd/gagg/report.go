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
	_, err = fmt.Fprintln(&screen{out: c.out}, explained) // for people to read, as --schema, wherever it goes
	return output(err)
}

// explanation is a plan with what the process needs beside the query.
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

// statistics is where --stats goes. Both are nil if nobody asked.
type statistics struct {
	stderr io.Writer
	file   *sink.File
}

func (c *command) createStats() (*statistics, error) {
	switch c.stats {
	case "":
		return &statistics{}, nil
	case statsToStderr:
		return &statistics{stderr: c.log}, nil
	}
	f, err := c.createFile(c.stats)
	if err != nil {
		return nil, err
	}
	return &statistics{file: f}, nil
}

// collect is what the run did, if anybody asked.
func (s *statistics) collect(of *gagg.Rows) (did runStats) {
	if s.stderr == nil && s.file == nil {
		return did
	}
	return runStats{of.Stats(), peakResident(systemFiles())}
}

// runStats is what --stats tells: what the run did, and what the system saw.
type runStats struct {
	gagg.Stats
	PeakRSS int64 `json:"peak_rss,omitempty"` // bytes of memory that the process held at most
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
