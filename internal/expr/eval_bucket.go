package expr

import "github.com/gagg-dev/gagg/internal/column"

// What is made of a time tells mostly no more than its day, hour or minute:
// strftime(t, '%Y-%m-%d') is the same for all t of a day. Such a bucket of times has its text made
// once, and rows get codes into a dictionary of the texts that have come so far. So have numbers
// that rows are grouped by, year(t) say: a group is found by a code sooner than by a number. A
// column that has a dictionary of its own has the texts of its entries made (eval_dict.go).
//
//	time ──divided──▶ bucket ──less the first──▶ place in codes ──▶ code ──▶ entry of the dictionary

const (
	// bucketWindow is how many buckets there may be from the first to the last: 11 days of minutes.
	bucketWindow = 16 << 10
	// mostBuckets is how many buckets come before another dictionary is begun.
	mostBuckets = smallDict
	// vainBuckets is how many batches may have a bucket for every other row or more, until rows are
	// computed one by one.
	vainBuckets = 4

	// Numbers are computed row by row if their dictionaries, of which whoever groups by them reads
	// each, have more than so many entries in a number of rows.
	numberedRows, numberedEntries = 256 << 10, 64 << 10
)

// buckets is what a step knows of the buckets of its argument.
type buckets struct {
	of      divisor
	first   int64   // bucket of codes[0]
	codes   []int32 // by bucket, less first: 1 + its code; 0: it has none; below 0: its number in fresh, counted from -1 down
	used    []int   // places in codes
	entries entries
	made    frame   // whose kernel makes them
	fresh   []int64 // a time of each bucket that has no code yet
	vain    int     // batches

	rows, read int // rows, and entries of dictionaries that they made
}

// entries is a dictionary of numbers or texts that grows, each of them there once. A Dict does not
// change: new entries make another one, whose first entries are those of the last.
type entries struct {
	dict  *column.Dict // nil: there are none
	codes map[entry]int32
	final []int32 // of those that were added last
}

type entry struct {
	number int64
	text   string
}

func (e *entries) len() int { return len(e.codes) }

// add adds values, none of them NULL, and returns their codes.
func (e *entries) add(v *column.Vector) (codes []int32) {
	if e.codes == nil {
		e.codes = map[entry]int32{}
	}
	made := column.Vector{Type: v.Type}
	if e.dict != nil {
		made = e.dict.Values
	}
	before := made.Len
	e.final = e.final[:0]
	for i := range v.Len {
		value := v.At(i)
		of := entry{value.Int, value.Bytes}
		code, there := e.codes[of]
		if !there {
			code = int32(made.Len)
			e.codes[of] = code
			made.Append(value)
		}
		e.final = append(e.final, code)
	}
	if made.Len > before {
		e.dict = &column.Dict{Values: made}
	}
	return e.final
}

// settleCodes gives rows that have numbers of new entries, counted from -1 down, the codes of
// these.
func settleCodes(codes, of []int32) {
	for i, code := range codes {
		if code < 0 {
			codes[i] = of[-code-1]
		}
	}
}

// byBucket computes the node of a time by its buckets, if that pays.
func (s *step) byBucket() (done bool, err error) {
	b := s.buckets
	if b == nil {
		b = &buckets{of: newDivisor(s.node.bucket), codes: make([]int32, bucketWindow)}
		b.made.args = make([]*column.Vector, 1)
		s.buckets = b
	}
	if b.vain == vainBuckets {
		return false, nil
	}
	v, err := s.args[0].flat()
	if err != nil {
		return false, err
	}
	s.f.codes = sized(s.f.codes, v.Len)
	if len(b.used) > mostBuckets || !b.number(v, s.f.codes) {
		b.empty()
		if !b.number(v, s.f.codes) {
			b.empty()
			b.vain++
			return false, nil
		}
	}
	if 2*len(b.fresh) > v.Len {
		b.vain++
	}
	if !b.addEntries(s.node, s.f.codes) {
		return false, nil
	}
	if b.rows += v.Len; s.node.typ.Rep() == column.RepInt64 && b.rows > numberedRows {
		if b.read > numberedEntries {
			b.vain = vainBuckets
		}
		b.rows, b.read = 0, 0
	}
	s.res = column.Vector{Type: s.node.typ, Len: v.Len, Null: v.Null, Codes: s.f.codes, Dict: b.entries.dict}
	return true, nil
}

// empty forgets all buckets.
func (b *buckets) empty() {
	for _, at := range b.used {
		b.codes[at] = 0
	}
	b.used, b.fresh, b.entries = b.used[:0], b.fresh[:0], entries{}
}

// number gives rows the codes of their buckets, and those of new buckets numbers below 0, as codes
// has them. It reports whether the window has all of them.
func (b *buckets) number(v *column.Vector, codes []int32) bool {
	times := v.Int[:v.Len]
	last, code := int64(0), int32(0) // of the row before; code 0 is none
	for i, t := range times {
		if v.Null != nil && v.Null[i] {
			codes[i] = 0
			continue
		}
		bucket := b.of.floor(t)
		if bucket != last || code == 0 {
			if len(b.used) == 0 {
				b.first = bucket - bucketWindow/2
			}
			at := uint64(bucket - b.first)
			if at >= bucketWindow {
				return false
			}
			if b.codes[at] == 0 {
				b.used, b.fresh = append(b.used, int(at)), append(b.fresh, t)
				b.codes[at] = int32(-len(b.fresh))
			}
			last, code = bucket, b.codes[at]
		}
		codes[i] = code - 1
		if code < 0 {
			codes[i] = code
		}
	}
	return true
}

// addEntries makes the entries of buckets that are new, and gives their rows codes. It returns
// false where there is no entry at all, or the kernel fails: rows tell better which one it is.
func (b *buckets) addEntries(n *bound, codes []int32) bool {
	if len(b.fresh) == 0 {
		return b.entries.dict != nil
	}
	f := &b.made
	f.args[0] = &column.Vector{Type: n.args[0].typ, Len: len(b.fresh), Int: b.fresh}
	f.reset(len(b.fresh), n)
	if n.kernel(f) != nil {
		b.empty()
		return false
	}
	before := b.entries.len()
	final := b.entries.add(&f.out)
	if b.entries.len() > before {
		b.read += b.entries.len()
	}
	for i, at := range b.used[len(b.used)-len(b.fresh):] {
		b.codes[at] = 1 + final[i]
	}
	settleCodes(codes, final)
	b.fresh = b.fresh[:0]
	return true
}
