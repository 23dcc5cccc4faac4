package gagg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// QueryPlan is how a query would run: a value that is the same on every
// machine with the same number of threads.
type QueryPlan struct {
	Device     string     `json:"device"`
	Reason     string     `json:"reason"` // why that device
	Threads    int        `json:"threads"`
	BatchRows  int        `json:"batch_rows"`
	Partitions int        `json:"partitions"` // 0: by the number of groups met, when partitioning pays
	Columns    []string   `json:"columns"`    // read from the input
	Where      string     `json:"where,omitempty"`
	Keys       []KeyPlan  `json:"keys"`
	KeyWords   int        `json:"key_words"`   // 64-bit words of a key
	Aggregates []string   `json:"aggregates"`  // computed, each once
	StateWords int        `json:"state_words"` // 64-bit words of the aggregates of a group
	Having     string     `json:"having,omitempty"`
	Output     []string   `json:"output"` // columns, `name: type`
	OrderBy    int        `json:"order_by"`
	Limit      int64      `json:"limit,omitempty"`
	Scan       ScanPlan   `json:"scan"`
	Memory     MemoryPlan `json:"memory"`
}

// KeyPlan is how a key is held.
type KeyPlan struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Interned bool   `json:"interned"` // strings as numbers, not bytes
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
	p, err := prepare(ctx, q, o)
	if err != nil {
		return nil, err
	}
	plan := p.plan(q)
	return plan, errors.Join(p.in.Close())
}

func (p *prepared) plan(q Query) *QueryPlan {
	states := p.states(nil)
	plan := &QueryPlan{
		Device: deviceCPU, Reason: "this version has no GPU engine",
		Threads: p.threads, BatchRows: p.opt.BatchRows, Partitions: p.opt.Partitions,
		Where: q.Where, Having: q.Having, KeyWords: p.layout.Words,
		Aggregates: p.query.texts, StateWords: states.Words(),
		OrderBy: len(p.query.order), Limit: q.Limit, Memory: p.memory,
		Scan: ScanPlan{
			Rows: p.facts.rows, RowGroups: p.scan.units(), Bytes: p.facts.bytes,
			RowGroupsSkipped: p.facts.skippedGroups, BytesSkipped: p.facts.skippedByte,
		},
	}
	for _, c := range p.query.cols {
		plan.Columns = append(plan.Columns, p.in.schema().Fields[c].Name)
	}
	for i, e := range p.query.keys {
		plan.Keys = append(plan.Keys, KeyPlan{p.query.keyTexts[i], e.Type().String(), p.interned[i]})
	}
	for _, c := range p.query.out {
		plan.Output = append(plan.Output, c.name+": "+c.expr.Type().String())
	}
	return plan
}

// String is the plan for people.
func (p *QueryPlan) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("device", "%s (%s), %d threads", p.Device, p.Reason, p.Threads)
	line("scan", "%d row groups, %d rows, %d bytes; %d row groups, %d bytes skipped by statistics",
		p.Scan.RowGroups, p.Scan.Rows, p.Scan.Bytes, p.Scan.RowGroupsSkipped, p.Scan.BytesSkipped)
	line("columns", "%s", strings.Join(p.Columns, ", "))
	if p.Where != "" {
		line("where", "%s", p.Where)
	}
	for _, k := range p.Keys {
		how := ""
		if k.Interned {
			how = ", interned"
		}
		line("key", "%s: %s%s", k.Key, k.Type, how)
	}
	for _, a := range p.Aggregates {
		line("aggregate", "%s", a)
	}
	partitions := "as the groups ask for"
	if p.Partitions > 0 {
		partitions = strconv.Itoa(p.Partitions) + " from the first row on"
	}
	line("group", "%d key words, %d state words; partitions: %s", p.KeyWords, p.StateWords, partitions)
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
		line("memory", "%d bytes at most", p.Memory.Limit)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
