package cpu

import (
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// member is how one worker enters keys into a shared set:
//
//	rows ──▶ key words ──▶ recent: drops keys that came shortly before ──▶ a buffer for each partition ──full──▶ the set
//
// So a lock is taken once for many keys, whose cache misses overlap, and the few keys that most
// rows may have do not reach it.
type member struct {
	set     *sharedSet
	columns []int        // of the inner run: those of the set's keys
	own     column.Batch // these columns
	intern  *key.Interner
	encoder *key.Encoder
	fresh   []uint64 // keys of the batch that are not recent, end to end
	hashes  []uint64 // of these keys
	recent  []uint64 // the last key of each hash: recentBits of it
	buffers []uint64 // keys by partition, each with room for memberWords words
	filled  [setParts]uint32
	zeros   bool // the key of zeros has come
	tally   *tally
}

const (
	// memberWords is how many words of keys are collected for a partition.
	memberWords = 64
	// bufferWords is how many there is room for while others have the lock, which is asked for
	// again every retryWords. All partitions grow at about the same time, each for up to a
	// millisecond: without the room workers of 16 waited a sixth of their time.
	bufferWords = 2 * memberWords
	retryWords  = 16
	// recentBits is how many keys are recent: they stay in the second-level cache of a core, beside
	// the buffers.
	recentBits = 12
)

// memberBytes is about what a member takes for keys of that many words: the recent ones, the
// buffers, those of a batch.
func memberBytes(words int) int64 {
	return int64(words)<<(recentBits+3) + 8*setParts*(memberWords+bufferWords)
}

func newMember(s *sharedSet, keys SetKeys, in *key.Interner) *member {
	m := &member{
		set: s, columns: keys.Columns, own: column.Batch{Cols: make([]column.Vector, len(keys.Columns))},
		tally: s.tally(), intern: in, encoder: key.NewEncoder(keys.Layout, in),
		recent:  make([]uint64, s.words<<recentBits),
		buffers: make([]uint64, setParts*bufferWords),
	}
	m.forget()
	return m
}

// forget makes all of recent a key that does not belong there.
func (m *member) forget() {
	w := m.set.words
	k := make([]uint64, 2*w)
	k[0] = 1
	one := m.slot(m.set.seed.hash(k[:w]))
	other := one
	for other == one {
		k[w]++
		other = m.slot(m.set.seed.hash(k[w:]))
	}
	for at := 0; at < len(m.recent); at += w {
		copy(m.recent[at:at+w], k)
	}
	copy(m.recent[one*w:(one+1)*w], k[w:])
}

// batchOf is the columns of a batch of the inner run that the set has.
func (m *member) batchOf(b *column.Batch) *column.Batch {
	m.own.Rows = b.Rows
	for i, c := range m.columns {
		m.own.Cols[i] = b.Cols[c]
	}
	return &m.own
}

// slot is where recent has keys of a hash.
func (m *member) slot(hash uint64) int { return int(hash & (1<<recentBits - 1)) }

// add enters the keys of a batch and returns true, unless the set is closed. Then some of them may
// have been entered, too. The worker has read `read` rows so far.
func (m *member) add(b *column.Batch, read int64) bool {
	m.tally.read.Store(read)
	if m.set.closed.Load() {
		return false
	}
	m.encoder.Encode(b.Cols, b.Rows)
	if m.encoder.Err() != nil || m.intern.Settle() != nil {
		return false
	}
	m.fresh, m.hashes = sized(m.fresh, b.Rows*m.set.words), sized(m.hashes, b.Rows)
	return m.collect(m.filter(b.Rows))
}

// filter keeps the keys of the batch that are not recent, and returns how many they are.
func (m *member) filter(rows int) (n int) {
	switch words := m.encoder.Words; len(words) {
	case 1:
		return m.filter1(words[0])
	case 2:
		return m.filter2(words[0], words[1])
	}
	return m.filterN(rows)
}

// filter1 keeps the keys that are not recent, and returns how many they are.
func (m *member) filter1(keys []uint64) (n int) {
	fresh, hashes, recent, seed := m.fresh[:len(keys)], m.hashes[:len(keys)], m.recent[:1<<recentBits], m.set.seed
	for i := range keys {
		k := keys[i]
		if k == 0 {
			m.zeros = true
			continue
		}
		h := seed.hash1(k)
		at := h & (1<<recentBits - 1)
		fresh[n], hashes[n] = k, h
		if recent[at] != k {
			n++
		}
		recent[at] = k
	}
	return n
}

// filter2 is filter1 for keys of two words.
func (m *member) filter2(first, second []uint64) (n int) {
	second = second[:len(first)]
	fresh, hashes, recent, seed := m.fresh[:2*len(first)], m.hashes[:len(first)], m.recent[:2<<recentBits], m.set.seed
	for i, a := range first {
		b := second[i]
		if a|b == 0 {
			m.zeros = true
			continue
		}
		h := seed.hash2(a, b)
		at := h & (1<<recentBits - 1) * 2
		fresh[2*n], fresh[2*n+1], hashes[n] = a, b, h
		other := (recent[at] ^ a) | (recent[at+1] ^ b)
		recent[at], recent[at+1] = a, b
		if other != 0 {
			n++
		}
	}
	return n
}

// filterN is filter1 for keys of several words.
func (m *member) filterN(rows int) (n int) {
	words, w := m.encoder.Words, m.set.words
	for i := range rows {
		key := m.fresh[n*w : (n+1)*w]
		used := uint64(0)
		for k := range words {
			key[k] = words[k][i]
			used |= key[k]
		}
		if used == 0 {
			m.zeros = true
			continue
		}
		h := m.set.seed.hash(key)
		m.hashes[n] = h
		at := m.slot(h) * w
		old := m.recent[at : at+w]
		other := uint64(0)
		for k, x := range key {
			other |= old[k] ^ x
			old[k] = x
		}
		if other != 0 {
			n++
		}
	}
	return n
}

// collect puts the n keys that filter has left in the buffers, and returns true, unless the set is
// closed.
func (m *member) collect(n int) bool {
	w := m.set.words
	each, most := uint32(memberWords/w*w), uint32(bufferWords/w*w)
	fresh := m.fresh[:n*w]
	for i, h := range m.hashes[:n] {
		p := h >> (64 - setBits)
		f := m.filled[p]
		if f == most || f >= each && (f-each)%retryWords == 0 {
			if m.enter(int(p), f == most) != nil {
				return false
			}
			f = m.filled[p]
		}
		at := int(p)*bufferWords + int(f)
		for k := range w {
			m.buffers[at+k] = fresh[i*w+k]
		}
		m.filled[p] = f + uint32(w)
	}
	return true
}

// buffer is the keys that were collected for a partition.
func (m *member) buffer(p int) []uint64 {
	return m.buffers[p*bufferWords : p*bufferWords+int(m.filled[p])]
}

// enter enters the keys that were collected for a partition, unless it is locked and there is no
// need to wait.
func (m *member) enter(p int, wait bool) error {
	if !m.set.lock(p, wait) {
		return nil
	}
	defer m.set.parts[p].mu.Unlock()
	keys := m.buffer(p)
	for len(keys) > 0 {
		n := min(len(keys), memberWords/m.set.words*m.set.words)
		if err := m.set.enter(p, keys[:n], m.tally); err != nil {
			return err
		}
		keys = keys[n:]
	}
	m.filled[p] = 0
	return nil
}

// enterAll enters all keys that were collected, unless the set is closed.
func (m *member) enterAll() error {
	if m.zeros {
		m.set.zeros.Store(true)
	}
	for _, wait := range []bool{false, true} {
		for p := range m.filled {
			if m.filled[p] > 0 {
				if err := m.enter(p, wait); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
