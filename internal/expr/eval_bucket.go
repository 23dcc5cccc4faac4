package expr

import "github.com/gagg-dev/gagg/internal/column"

// A text that is made of a time tells mostly no more than its day, hour or minute:
// strftime(t, '%Y-%m-%d') is the same for all t of a day. Such a bucket of times has its text made
// once, and rows get codes into a dictionary of the buckets that have come so far. A column that
// has a dictionary of its own has the texts of its entries made (eval_dict.go).
//
//	time ──divided──▶ bucket ──less the first──▶ place in codes ──▶ code ──▶ entry of the dictionary
//
// A Dict does not change: new buckets make another one, whose first entries are those of the last.

const (
	// bucketWindow is how many buckets there may be from the first to the last: 11 days of minutes.
	bucketWindow = 16 << 10
	// mostBuckets is how many entries a dictionary has before another one is begun.
	mostBuckets = smallDict
	// vainBuckets is how many batches may have a bucket for every other row or more, until rows are
	// computed one by one.
	vainBuckets = 4
)

// buckets is what a step knows of the buckets of its argument.
type buckets struct {
	of      divisor
	first   int64   // bucket of codes[0]
	codes   []int32 // by bucket, less first: 1 + its code; 0: it has none
	used    []int   // places in codes
	dict    *column.Dict
	entries frame   // whose kernel makes them
	fresh   []int64 // a time of each bucket that has no entry yet
	vain    int     // batches
}

// byBucket computes the node of a time by its buckets, if that pays.
func (s *step) byBucket() (done bool, err error) {
	b := s.buckets
	if b == nil {
		b = &buckets{of: newDivisor(s.node.bucket), codes: make([]int32, bucketWindow)}
		b.entries.args = make([]*column.Vector, 1)
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
			b.vain++
			return false, nil
		}
	}
	if 2*len(b.fresh) > v.Len {
		b.vain++
	}
	if !b.addEntries(s.node) {
		return false, nil
	}
	s.res = column.Vector{Type: s.node.typ, Len: v.Len, Null: v.Null, Codes: s.f.codes, Dict: b.dict}
	return true, nil
}

// empty forgets all buckets.
func (b *buckets) empty() {
	for _, at := range b.used {
		b.codes[at] = 0
	}
	b.used, b.fresh, b.dict = b.used[:0], b.fresh[:0], nil
}

// number gives rows the codes of their buckets, and buckets that are new their codes. It reports
// whether the window has all of them.
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
				b.codes[at] = int32(len(b.used))
			}
			last, code = bucket, b.codes[at]
		}
		codes[i] = code - 1
	}
	return true
}

// addEntries makes the entries of buckets that are new. It returns false where there is no entry at
// all, or the kernel fails: rows tell better which one it is.
func (b *buckets) addEntries(n *bound) bool {
	if len(b.fresh) == 0 {
		return b.dict != nil
	}
	f := &b.entries
	f.args[0] = &column.Vector{Type: n.args[0].typ, Len: len(b.fresh), Int: b.fresh}
	f.reset(len(b.fresh), n)
	if n.kernel(f) != nil {
		b.empty()
		return false
	}
	made := &column.Dict{Values: column.Vector{Type: n.typ}}
	if b.dict != nil {
		made.Values = b.dict.Values
	}
	for i := range f.n {
		made.Values.Append(f.out.At(i))
	}
	b.dict, b.fresh = made, b.fresh[:0]
	return true
}
