package cpu

import "github.com/gagg-dev/gagg/internal/column"

// seenCodes drops rows whose keys and value came before with the same codes of the same
// dictionaries: by the code of a value, it knows the keys that came with it last. In a row group
// most rows may be such, and they are known before a value is looked at.
type seenCodes struct {
	dicts []*column.Dict // of the keys, then of the value
	// by code of the value: the number of the keys that came with it last, plus 1; nil: not kept
	// yet
	last []uint32
	base []uint32 // by key: what its code counts
	rows []int32
	keys []uint32 // numbers of the batch's keys, plus 1

	came, dropped int // rows with these dictionaries
}

const (
	// seenLeast is after how many rows of a dictionary it is looked at whether enough of them are
	// dropped, which is one of seenShare. Not measured: four batches, of which each row costs a
	// look-up that it need not.
	seenLeast = 16 << 10
	seenShare = 8
	// seenEntries is for how many entries of a dictionary a row has come when it is worth to keep
	// what was seen of each: clearing the 4 bytes of an entry takes a fraction of a look-up.
	seenEntries = 4
)

// pick returns which of the n rows are to be looked at; nil: all.
func (s *seenCodes) pick(keys []column.Vector, value *column.Vector, n int) []int32 {
	if !s.follow(keys, value) {
		return nil
	}
	s.came += n
	if s.last == nil || s.came > seenLeast && s.dropped < s.came/seenShare {
		return nil
	}
	s.rows = sized(s.rows, n)
	rows, last, codes := s.rows, s.last, value.Codes[:n]
	left := 0
	if len(keys) == 0 {
		for i, c := range codes {
			rows[left] = int32(i)
			left += 1 - int(last[c])
			last[c] = 1
		}
	} else {
		for i, x := range s.number(keys, n) {
			rows[left] = int32(i)
			if c := codes[i]; last[c] != x {
				last[c] = x
				left++
			}
		}
	}
	s.dropped += n - left
	return rows[:left]
}

// follow reports whether all columns have dictionaries, of which the keys make few enough tuples.
// Where these are others than before it begins anew.
func (s *seenCodes) follow(keys []column.Vector, value *column.Vector) bool {
	same := len(s.dicts) == len(keys)+1 && s.dicts[len(keys)] == value.Dict
	for i := range keys {
		if keys[i].Dict == nil {
			return false
		}
		same = same && s.dicts[i] == keys[i].Dict
	}
	if value.Dict == nil {
		return false
	}
	if !same && !s.begin(keys, value) {
		return false
	}
	if n := value.Dict.Len(); s.last == nil && s.came >= n/seenEntries {
		s.last = make([]uint32, n)
	}
	return true
}

// begin begins with dictionaries. The rows of each are taken to be as many as those of the one
// before.
func (s *seenCodes) begin(keys []column.Vector, value *column.Vector) bool {
	worth := s.came >= value.Dict.Len()/seenEntries
	s.dicts, s.base, s.came, s.dropped = s.dicts[:0], s.base[:0], 0, 0
	tuples := uint64(1)
	for i := range keys {
		s.dicts, s.base = append(s.dicts, keys[i].Dict), append(s.base, uint32(tuples))
		if tuples *= uint64(keys[i].Dict.Len() + 1); tuples >= 1<<32-1 { // and NULL
			s.dicts = s.dicts[:0]
			return false
		}
	}
	s.dicts = append(s.dicts, value.Dict)
	if s.last == nil || !worth {
		s.last = nil
		return true
	}
	s.last = sized(s.last, value.Dict.Len())
	clear(s.last)
	return true
}

// number returns the numbers of the keys, plus 1.
func (s *seenCodes) number(keys []column.Vector, n int) []uint32 {
	s.keys = sized(s.keys, n)
	for i := range s.keys {
		s.keys[i] = 1
	}
	for k := range keys {
		v, base := &keys[k], s.base[k]
		if v.Null == nil {
			for i, c := range v.Codes[:n] {
				s.keys[i] += base * uint32(c)
			}
			continue
		}
		for i, c := range v.Codes[:n] {
			if v.Null[i] {
				c = int32(v.Dict.Len())
			}
			s.keys[i] += base * uint32(c)
		}
	}
	return s.keys
}
