package cpu

import "slices"

// This file is how a merger finds out that the hashes of rows crowd before a device is given them.
// A device's tables know no other hash, and a row there looks at every slot from its home slot to
// the one of its key: where many have one home slot, the time is quadratic (F10). So some rows are
// looked at, and where they crowd all are merged here.

const (
	// sampleEach: a sample is one of sampleEach rows, but sampleLeast rows at least, and sampleMost
	// at most.
	sampleEach  = 64
	sampleLeast = 256
	sampleMost  = 16 << 10

	// sampleKeys is how many different keys there have to be among them, for their hashes to tell
	// anything.
	sampleKeys = 32

	// sampleFar is how far from their home slots the keys of a sample may lie on the average, in
	// slots of a table of their own. It is half full: keys that were not chosen on purpose give .5.
	sampleFar = 4
)

// sample is the keys of some rows: of each the part of its hash that gives the home slot, above 32
// bits that tell keys apart.
type sample struct {
	keys    []uint64
	cfg     *Config
	skip    uint // top bits that all hashes share
	each, n int  // one of `each` rows is in the sample; rows until the next
}

// begin begins a sample of that many rows, whose hashes share their top skip bits.
func (s *sample) begin(cfg *Config, skip uint, rows int) {
	*s = sample{keys: s.keys[:0], cfg: cfg, skip: skip, each: max(min(sampleEach, rows/sampleLeast), rows/sampleMost, 1)}
}

// add looks at some of the rows, which refer to nothing.
func (s *sample) add(rows []uint64) {
	n := len(rows) / s.cfg.Stride
	for ; s.n < n; s.n += s.each {
		row := rows[s.n*s.cfg.Stride:][:s.cfg.Stride]
		home := row[0] << s.skip >> 32
		s.keys = append(s.keys, home<<32|s.cfg.Keys.Secret(row, s.cfg.Keys.Base(), s.cfg.Arenas)>>32)
	}
	s.n -= n
}

// crowds reports whether the hashes of the keys crowd: whether the keys would lie far from home in
// a table with linear probing that is half full of them.
func (s *sample) crowds() bool {
	slices.Sort(s.keys)
	s.keys = slices.Compact(s.keys)
	n := uint64(len(s.keys))
	if n < sampleKeys {
		return false
	}
	slot, next, far := 1<<31/n, uint64(0), uint64(0)
	for _, k := range s.keys {
		at := max(next, k>>32)
		far += at - k>>32
		next = at + slot
	}
	return far > sampleFar*slot*n
}

// crowds reports whether the hashes of the rows in memory crowd.
func (m *Merger) crowds() bool {
	m.sample.begin(m.cfg, m.in.shared, m.rowsInMemory()+m.evictedRows())
	for _, page := range m.waiting() {
		m.sample.add(page)
	}
	for _, k := range m.in.evicted[m.in.loaded:] {
		m.sample.add(k.Rows())
	}
	return m.sample.crowds()
}

// blockCrowds reports the same of the rows of the block that was read.
func (m *Merger) blockCrowds() bool {
	m.sample.begin(m.cfg, m.in.shared, len(m.block.Rows)/m.cfg.Stride)
	m.sample.add(m.block.Rows)
	return m.sample.crowds()
}
