package gagg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
)

// QueryPlan is how a query would run: a value that is the same on every
// machine with the same number of threads and the same devices.
type QueryPlan struct {
	Device     string      `json:"device"`              // cpu, gpu:0, gpu:0,1
	Reason     string      `json:"reason"`              // why that device
	Predicted  *Prediction `json:"predicted,omitempty"` // nil: the choice needed none
	GPU        *DevicePlan `json:"gpu,omitempty"`       // nil: the CPU computes
	Threads    int         `json:"threads"`
	BatchRows  int         `json:"batch_rows"`
	Groups     GroupPlan   `json:"groups"`
	Columns    []string    `json:"columns"` // read from the input
	Where      string      `json:"where,omitempty"`
	Keys       []KeyPlan   `json:"keys"`
	Following  []KeyPlan   `json:"following,omitempty"` // keys that these tell: computed of the groups
	KeyWords   int         `json:"key_words"`           // 64-bit words of a key
	Distinct   []KeyPlan   `json:"distinct,omitempty"`  // values of which each counts once in a group: grouped by beside the keys
	Aggregates []string    `json:"aggregates"`          // computed, each once
	StateWords int         `json:"state_words"`         // 64-bit words of the aggregates of a group
	Having     string      `json:"having,omitempty"`
	Output     []string    `json:"output"` // columns, `name: type`
	OrderBy    int         `json:"order_by"`
	Limit      int64       `json:"limit,omitempty"`
	Scan       ScanPlan    `json:"scan"`
	Memory     MemoryPlan  `json:"memory"`
	Temp       TempPlan    `json:"temp"`
}

// TempPlan is where what does not fit in memory goes.
type TempPlan struct {
	Dir   string `json:"dir"`
	Limit int64  `json:"limit"` // bytes; 0: none
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
	AtMost     int64  `json:"at_most"`    // as far as the footers tell; -1: not known
	Fit        int64  `json:"fit"`        // groups that a partition may have to be merged in memory; -1: any number
	Theorem1   int64  `json:"theorem_1"`  // partitions that leave none with more, but for a probability of 1e-6: by Theorem 1 of EGA (paper 003, section 4.2.1)
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
}

// Plan resolves a query and says how it would run, without reading more than
// the footers of its input.
func Plan(ctx context.Context, q Query, o Options) (_ *QueryPlan, err error) {
	defer func() { err = classify(err) }()
	p, err := prepare(ctx, q, o, learnt{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.in.Close()) }()
	chosen, err := p.planDevice(ctx)
	if err != nil {
		return nil, err
	}
	return p.plan(chosen), nil
}

func (p *prepared) plan(chosen chosen) *QueryPlan {
	q := p.query.Query
	states := p.states(nil, false)
	plan := &QueryPlan{
		Device: device.Names(chosen.numbers), Reason: chosen.Reason, GPU: p.devicePlan(chosen.numbers),
		Threads: p.threads, BatchRows: p.opt.BatchRows, Groups: p.groupPlan(states),
		Where: q.Where, Having: q.Having, KeyWords: p.layout.Words,
		Aggregates: p.query.CallTexts, StateWords: states.Words(),
		OrderBy: len(p.query.Order), Limit: q.Limit, Memory: p.memory,
		Temp: TempPlan{cmp.Or(p.opt.TempDir, DefaultTempDir()), p.opt.TempLimit},
		Scan: ScanPlan{
			Rows: p.facts.Rows, RowGroups: p.scan.RowGroups(), Bytes: p.facts.Bytes,
			RowGroupsSkipped: p.facts.SkippedGroups, BytesSkipped: p.facts.SkippedBytes,
		},
	}
	if chosen.CPU > 0 {
		plan.Predicted = &Prediction{chosen.CPU, chosen.Device}
	}
	for _, c := range p.query.Cols {
		plan.Columns = append(plan.Columns, p.in.Schema().Fields[c].Name)
	}
	for i, e := range p.query.Keys {
		plan.Keys = append(plan.Keys, KeyPlan{p.query.KeyTexts[i], e.Type().String(), p.keyCols[i].Intern})
	}
	for _, f := range p.query.Follow {
		plan.Following = append(plan.Following, KeyPlan{f.Text, f.Expr.Type().String(), false})
	}
	for _, s := range p.sets {
		plan.Distinct = append(plan.Distinct, KeyPlan{p.query.ArgTexts[s.arg], p.query.Args[s.arg].Type().String(), s.value.Intern})
	}
	for _, c := range p.query.Out {
		plan.Output = append(plan.Output, c.Name+": "+c.Expr.Type().String())
	}
	return plan
}

func (p *prepared) groupPlan(states *agg.Layout) GroupPlan {
	cfg := cpu.Config{States: states, Stride: cpu.Stride(p.layout, states), Threads: p.threads, Memory: p.memory.shares()}
	g := GroupPlan{AtMost: p.atMost()}
	groups := math.Inf(1)
	if g.AtMost >= 0 {
		groups = float64(g.AtMost)
	}
	level := cfg.Level(groups).Plan()
	g.Fit, g.Theorem1, g.Chernoff = level.Fit, level.Enough.Theorem1, level.Enough.Chernoff
	if g.Fit == math.MaxInt64 {
		g.Fit = -1
	}
	g.Partitions, g.Reason = 1<<level.Bits, level.Limit.String()
	if p.opt.Partitions > 0 {
		g.Partitions, g.Reason = p.opt.Partitions, "as asked for, from the first row on"
	}
	return g
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
	text := fmt.Sprintf("%s at most; for each thread %s to read, %s for groups (its table: %s), then %s to merge", mib(m.Limit), mib(m.Read), mib(m.Worker), mib(m.Table), mib(m.Merge))
	if m.Sets > 0 {
		text = strings.Replace(text, " for groups (", fmt.Sprintf(" for groups (%s of it by distinct values; ", mib(m.Sets)), 1)
	}
	if m.Sort > 0 {
		text += fmt.Sprintf(" and %s to sort", mib(m.Sort))
	}
	return text + fmt.Sprintf("; for all %s of pages being filled, %s for results", mib(m.Pages), mib(m.Output))
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
		fmt.Fprintf(&b, "%-12s %s\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`)) // names may hold line ends
	}
	line("device", "%s (%s), %d threads", p.Device, p.Reason, p.Threads)
	if p.GPU != nil {
		line("gpu", "%s", p.GPU)
	}
	line("scan", "%d row groups, %d rows, %d bytes; %d row groups, %d bytes skipped by statistics",
		p.Scan.RowGroups, p.Scan.Rows, p.Scan.Bytes, p.Scan.RowGroupsSkipped, p.Scan.BytesSkipped)
	line("columns", "%s", strings.Join(p.Columns, ", "))
	if p.Where != "" {
		line("where", "%s", p.Where)
	}
	for _, k := range p.Keys {
		line("key", "%s", k)
	}
	for _, k := range p.Following {
		line("key", "%s; computed of the groups", k)
	}
	for _, k := range p.Distinct {
		line("distinct", "%s; grouped by the keys and this, then by the keys", k)
	}
	for _, a := range p.Aggregates {
		line("aggregate", "%s", a)
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
	line("output", "%s", strings.Join(p.Output, ", "))
	if p.Memory.Limit > 0 {
		line("memory", "%s", p.Memory)
	}
	if p.Memory.Spill {
		line("spill", "%s", p.Temp)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
