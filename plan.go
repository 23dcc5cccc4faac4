package gagg

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/exec"
)

// QueryPlan is how a query would run: a value that is the same on every
// machine with the same number of threads and the same devices.
type QueryPlan struct {
	Device    string      `json:"device"`              // cpu, gpu:0, gpu:0,1
	Reason    string      `json:"reason"`              // why that device
	Predicted *Prediction `json:"predicted,omitempty"` // nil: the choice needed none
	GPU       *DevicePlan `json:"gpu,omitempty"`       // nil: the CPU computes
	Threads   int         `json:"threads"`
	BatchRows int         `json:"batch_rows"`
	Groups    GroupPlan   `json:"groups"`
	Columns   []string    `json:"columns"`          // read from the input
	Sample    string      `json:"sample,omitempty"` // what is read of the input; "": all
	Now       string      `json:"now,omitempty"`    // what now() gives; "": nothing asks for it
	Where     string      `json:"where,omitempty"`
	Keys      []KeyPlan   `json:"keys"`
	// Following: keys that these tell: computed of the groups
	Following []KeyPlan `json:"following,omitempty"`
	// grouping sets, where there are several, as (a, b)
	Sets     []string `json:"sets,omitempty"`
	Totals   bool     `json:"totals,omitempty"` // the last set is the last row
	KeyWords int      `json:"key_words"`        // 64-bit words of a key
	// Distinct: values that are grouped by beside the keys: each counts once in a group, or, if
	// Counted, median, mode and their like are given it with how often it comes
	Distinct []KeyPlan `json:"distinct,omitempty"`
	Counted  bool      `json:"counted,omitempty"`
	// Parted: the CPU groups by parts of the keys, and these groups by the keys
	Parted     bool     `json:"parted,omitempty"`
	Aggregates []string `json:"aggregates"` // computed, each once
	// Subqueries: the aggregates of each, of those that are computed by runs of their own, whose
	// groups are joined; none: there is one run
	Subqueries []string `json:"subqueries,omitempty"`
	StateWords int      `json:"state_words"` // 64-bit words of the aggregates of a group
	// Exact: sums of floats that are kept exactly; none unless the query is deterministic
	Exact   []ExactSum `json:"exact,omitempty"`
	Having  string     `json:"having,omitempty"`
	Output  []string   `json:"output"` // columns, `name: type`
	OrderBy int        `json:"order_by"`
	Pivot   string     `json:"pivot,omitempty"` // the key whose values become columns of the output
	Limit   int64      `json:"limit,omitempty"`
	Scan    ScanPlan   `json:"scan"`
	Memory  MemoryPlan `json:"memory"`
	Temp    TempPlan   `json:"temp"`
}

// ExactSum is an exact sum of floats, as an integer.
type ExactSum struct {
	Of   string `json:"of"`   // x, x^2 or x*y
	Bits int    `json:"bits"` // of the integer
	Low  int    `json:"low"`  // a unit of it is worth 2^Low
}

// String is the sum for people.
func (e ExactSum) String() string {
	return fmt.Sprintf("sum of %s in %d bits from 2^%d on", e.Of, e.Bits, e.Low)
}

// exactSums are the exact sums of a plan as callers see them.
func exactSums(of []exec.ExactSum) (sums []ExactSum) {
	for _, sum := range of {
		sums = append(sums, ExactSum(sum))
	}
	return sums
}

// TempPlan is where what does not fit in memory goes.
type TempPlan struct {
	Dir   string `json:"dir"`
	Limit int64  `json:"limit"` // bytes; 0: none
}

// MemoryPlan is how the memory of a query is shared out, in bytes.
type MemoryPlan struct {
	Limit  int64 `json:"limit"`  // of all; 0: none, and so are the others
	Read   int64 `json:"read"`   // for a worker to read and decode its columns
	Worker int64 `json:"worker"` // for a worker's groups: table, pages, values; of all groupings
	Sets   int64 `json:"sets"`   // the part of it for groupings by the keys and a distinct value
	Table  int64 `json:"table"`  // the most of it that the table may take
	Pages  int64 `json:"pages"`  // for pages that are being filled, over all workers
	Merge  int64 `json:"merge"`  // for a goroutine that merges partitions
	Output int64 `json:"output"` // for results that wait to be read
	Sort   int64 `json:"sort"`   // for a goroutine's rows to be put in order; 0: there is no order
	Spill  bool  `json:"spill"`  // groups go to disk when memory is short
}

// KeyPlan is how a key is held.
type KeyPlan struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Interned bool   `json:"interned"` // strings as numbers, not bytes
}

// String is the plan for people.
func (k KeyPlan) String() string {
	how := ""
	if k.Interned {
		how = ", interned"
	}
	return k.Key + ": " + k.Type + how
}

// GroupPlan is into how many partitions groups are divided if there are as
// many as there can be. A run divides by what it estimates from the rows it
// has seen, and not at all while its tables reduce them.
type GroupPlan struct {
	AtMost int64 `json:"at_most"` // as far as the footers tell; -1: not known
	// Fit: groups that a partition may have to be merged in memory; -1: any number
	Fit int64 `json:"fit"`
	// Theorem1: partitions that leave none with more, but for a probability of 1e-6: by Theorem 1
	// of EGA (paper 003, §4.2.1)
	Theorem1   int64  `json:"theorem_1"`
	Chernoff   int64  `json:"chernoff"`   // the same by Chernoff's bound
	Partitions int    `json:"partitions"` // a power of two
	Reason     string `json:"reason"`     // what decided it
}

// ScanPlan is what will be read.
type ScanPlan struct {
	Rows             int64 `json:"rows"` // -1: not known
	RowGroups        int   `json:"row_groups"`
	Bytes            int64 `json:"bytes"`
	RowGroupsSkipped int64 `json:"row_groups_skipped"`
	BytesSkipped     int64 `json:"bytes_skipped"`
	FoldersSkipped   int   `json:"folders_skipped"` // not looked into, by their names
	FilesSkipped     int   `json:"files_skipped"`   // not opened, by their names
}

// Plan resolves a query and says how it would run, without reading more than
// the footers of its input. Run makes the same plan, and runs it.
func Plan(ctx context.Context, q Query, o Options) (*QueryPlan, error) {
	e, err := exec.Explain(ctx, request(q, o))
	if err != nil {
		return nil, err
	}
	p := newQueryPlan(e)
	p.Temp = TempPlan{cmp.Or(o.TempDir, DefaultTempDir()), o.TempLimit}
	return p, nil
}

// newQueryPlan is a plan as callers see it, but for the temp folder.
func newQueryPlan(e *exec.Explained) *QueryPlan {
	p, q, m := e.Plan, e.Query, e.Memory
	out := &QueryPlan{
		Device: device.Names(e.Numbers), GPU: newDevicePlan(e), Reason: p.Device.Reason,
		Threads: p.Threads, BatchRows: p.Options.BatchRows, Groups: GroupPlan(p.Groups()), Columns: p.Columns,
		Sample: q.Texts.Sample.String(), Where: q.Texts.Where, Having: q.Texts.Having, KeyWords: p.Layout.Words,
		Aggregates: q.CallTexts, StateWords: p.States(nil, false, nil).Words(),
		OrderBy: len(q.Order), Limit: q.Limit,
		Memory: MemoryPlan{
			Limit: m.Limit, Read: m.Read, Worker: m.Worker, Sets: m.Sets, Table: m.Table, Pages: m.Pages,
			Merge: m.Merge, Output: m.Output, Sort: m.Sort, Spill: m.Spill,
		},
		Scan: ScanPlan{
			Rows: p.Facts.Rows, RowGroups: p.RowGroups, Bytes: p.Facts.Bytes,
			RowGroupsSkipped: p.Facts.SkippedGroups, BytesSkipped: p.Facts.SkippedBytes,
			FoldersSkipped: p.Facts.SkippedFolders, FilesSkipped: p.Facts.SkippedFiles,
		},
	}
	if q.UsesNow {
		out.Now = q.Texts.Now.UTC().Format("2006-01-02 15:04:05.999999+00")
	}
	if c := p.Device.Choice; c.CPU > 0 {
		out.Predicted = &Prediction{c.CPU, c.Device}
	}
	out.Exact = exactSums(p.ExactSums())
	out.Sets, out.Totals = q.SetTexts(), q.Totals >= 0
	for i := range q.NamedKeys() {
		out.Keys = append(out.Keys, KeyPlan{q.KeyTexts[i], q.KeyType(i).String(), p.KeyColumns[i].Intern})
	}
	for _, f := range q.Follow {
		out.Following = append(out.Following, KeyPlan{f.Text, f.Expr.Type().String(), false})
	}
	out.Counted, out.Parted = p.Counted, p.Parted
	for _, s := range e.Subqueries {
		text := strings.Join(s.Query.CallTexts, ", ")
		if s.Counted {
			text += "; its values are counted"
		}
		out.Subqueries = append(out.Subqueries, text)
	}
	for _, s := range p.Sets {
		out.Distinct = append(out.Distinct, KeyPlan{q.ArgTexts[s.Arg], q.Args[s.Arg].Type().String(), s.Value.Intern})
	}
	columns := q.Out
	if out.Pivot = q.Texts.Pivot; out.Pivot != "" {
		columns = columns[:len(columns)-1] // the last one is the text of the key
	}
	for _, c := range columns {
		out.Output = append(out.Output, c.Name+": "+c.Expr.Type().String())
	}
	return out
}

// String says how many partitions, and why.
func (g GroupPlan) String() string {
	groups, fit := "an unknown number of groups", "all"
	if g.AtMost >= 0 {
		groups = fmt.Sprintf("at most %d groups", g.AtMost)
	}
	if g.Fit >= 0 {
		fit = strconv.FormatInt(g.Fit, 10)
	}
	return fmt.Sprintf("%d (%s) for %s, of which %s fit a merge: Theorem 1 asks for %d, Chernoff for %d",
		g.Partitions, g.Reason, groups, fit, g.Theorem1, g.Chernoff)
}

// String is the plan for people.
func (m MemoryPlan) String() string {
	bytes := func(n int64) string { return humanize.IBytes(uint64(n)) }
	groups := "its table: " + bytes(m.Table)
	if m.Sets > 0 {
		groups = bytes(m.Sets) + " of it by distinct values; " + groups
	}
	then := bytes(m.Merge) + " to merge"
	if m.Sort > 0 {
		then += fmt.Sprintf(" and %s to sort", bytes(m.Sort))
	}
	return fmt.Sprintf("%s at most; for each thread %s to read, %s for groups (%s), then %s; for all %s of pages being filled, %s for results",
		bytes(m.Limit), bytes(m.Read), bytes(m.Worker), groups, then, bytes(m.Pages), bytes(m.Output))
}

// String is the plan for people.
func (t TempPlan) String() string {
	if t.Limit == 0 {
		return "to " + t.Dir
	}
	return fmt.Sprintf("to %s, %s at most", t.Dir, humanize.IBytes(uint64(t.Limit)))
}

// String is the plan for people.
func (p *QueryPlan) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		// names may hold line ends
		fmt.Fprintf(&b, "%-12s %s\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`))
	}
	line("device", "%s (%s), %d threads", p.Device, p.Reason, p.Threads)
	if p.GPU != nil {
		line("gpu", "%s", p.GPU)
	}
	line("scan", "%d row groups, %d rows, %d bytes; %d row groups, %d bytes skipped by statistics",
		p.Scan.RowGroups, p.Scan.Rows, p.Scan.Bytes, p.Scan.RowGroupsSkipped, p.Scan.BytesSkipped)
	if p.Scan.FoldersSkipped+p.Scan.FilesSkipped > 0 {
		line("pruned", "%d folders and %d files by their names", p.Scan.FoldersSkipped, p.Scan.FilesSkipped)
	}
	if p.Now != "" {
		line("now", "%s", p.Now)
	}
	line("columns", "%s", strings.Join(p.Columns, ", "))
	if p.Sample != "" {
		line("sample", "%s", p.Sample)
	}
	if p.Where != "" {
		line("where", "%s", p.Where)
	}
	for _, k := range p.Keys {
		line("key", "%s", k)
	}
	for i, set := range p.Sets {
		if p.Totals && i == len(p.Sets)-1 {
			set += ", the last row"
		}
		line("grouping set", "%s", set)
	}
	for _, k := range p.Following {
		line("key", "%s; computed of the groups", k)
	}
	if p.Parted {
		line("parts", "groups are made by parts of the keys, which are computed of these")
	}
	for _, k := range p.Distinct {
		label := "distinct"
		if p.Counted {
			label = "counted"
		}
		line(label, "%s; grouped by the keys and this, then by the keys", k)
	}
	for _, a := range p.Aggregates {
		line("aggregate", "%s", a)
	}
	for _, s := range p.Subqueries {
		line("subquery", "%s", s)
	}
	for _, e := range p.Exact {
		line("exact", "%s", e)
	}
	line("group", "%d key words, %d state words", p.KeyWords, p.StateWords)
	line("partitions", "%s", p.Groups)
	if p.Having != "" {
		line("having", "%s", p.Having)
	}
	if p.OrderBy > 0 {
		line("order by", "%d terms", p.OrderBy)
	}
	if p.Limit > 0 {
		line("limit", "%d rows", p.Limit)
	}
	if p.Pivot != "" {
		line("pivot", "the values of %s become columns, once all groups are there", p.Pivot)
	}
	line("output", "%s", strings.Join(p.Output, ", "))
	if p.Memory.Limit > 0 {
		line("memory", "%s", p.Memory)
	}
	if p.Memory.Spill {
		line("spill", "%s", p.Temp)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
