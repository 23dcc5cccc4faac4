package expr

import (
	"slices"
	"weak"

	"github.com/gagg-dev/gagg/internal/column"
)

// A text of several columns that have small dictionaries, a || '-' || b say, is made once for each
// combination of their entries that comes, and rows get codes into a dictionary of these texts.
//
//	codes of the arguments ──mixed radix──▶ place in codes ──▶ code ──▶ entry of the dictionary
//
// Other dictionaries of the arguments make the places mean something else. The texts stay.

const (
	// mostCombined is how many combinations of entries there may be.
	mostCombined = 16 << 10
	// vainCombined is how many batches may have a new combination for every other row or more,
	// until rows are computed one by one.
	vainCombined = 4
	// combinedBytes is how many bytes the texts may have before rows are computed one by one.
	combinedBytes = 1 << 20
)

// combined is what a step knows of the combinations of its arguments.
type combined struct {
	from  []dictID // of the arguments
	codes []int32  // by combination: 1 + its code; 0: it has none; below 0: its number in fresh, counted from -1 down
	fresh []int    // combinations that have no code yet
	texts entries
	made  frame // whose kernel makes texts
	vain  int
}

// byCombination computes a node of texts by the combinations of the dictionaries of its arguments,
// if that pays.
func (s *step) byCombination() (done bool, err error) {
	c := s.combined
	if c == nil {
		c = &combined{from: make([]dictID, len(s.args))}
		s.combined = c
	}
	if c.vain == vainCombined {
		return false, nil
	}
	all := 1
	for i, a := range s.args {
		v, err := a.run()
		if err != nil {
			return false, err
		}
		if v.Dict == nil {
			return false, nil
		}
		s.f.args[i] = v
		if all *= v.Dict.Len(); all > mostCombined {
			return false, nil
		}
	}
	c.meet(s.f.args, all)
	n := s.eval.batch.Rows
	s.f.codes = sized(s.f.codes, n)
	c.number(s.f.args, s.f.codes)
	if 2*len(c.fresh) > n {
		c.vain++
	}
	if !c.addTexts(s.node, s.f.args, s.f.codes) {
		c.vain = vainCombined // rows tell better which one fails
		return false, nil
	}
	s.f.n, s.f.own, s.f.out.Null = n, false, nil
	s.f.mergeNulls()
	s.res = column.Vector{Type: s.node.typ, Len: n, Null: s.f.out.Null, Codes: s.f.codes, Dict: c.texts.dict}
	return true, nil
}

// meet forgets what combinations mean if the dictionaries are others than before.
func (c *combined) meet(args []*column.Vector, all int) {
	same := len(c.codes) == all
	for i, v := range args {
		if id := weak.Make(v.Dict); c.from[i] != id {
			c.from[i], same = id, false
		}
	}
	if same {
		return
	}
	c.codes = sized(c.codes, all)
	clear(c.codes)
	if c.texts.len() > smallDict {
		c.texts = entries{}
	}
}

// number gives rows the codes of their combinations, and those of new ones numbers below 0, as
// codes has them.
func (c *combined) number(args []*column.Vector, codes []int32) {
	clear(codes)
	for _, v := range args {
		radix := int32(v.Dict.Len())
		if radix == 1 {
			continue
		}
		for i, code := range v.Codes[:len(codes)] {
			codes[i] = codes[i]*radix + code
		}
	}
	c.fresh = c.fresh[:0]
	for i, place := range codes {
		code := c.codes[place]
		if code == 0 {
			c.fresh = append(c.fresh, int(place))
			code = int32(-len(c.fresh))
			c.codes[place] = code
		}
		if codes[i] = code - 1; code < 0 {
			codes[i] = code
		}
	}
}

// addTexts makes the texts of combinations that are new, and gives their rows codes. It returns
// false where one is NULL, or the kernel fails.
func (c *combined) addTexts(n *bound, args []*column.Vector, codes []int32) bool {
	if len(c.fresh) == 0 {
		return c.texts.dict != nil
	}
	f := &c.made
	f.args = f.args[:0]
	below := len(c.codes)
	for _, v := range args {
		below /= v.Dict.Len()
		of := &column.Vector{Type: v.Type}
		for _, place := range c.fresh {
			of.Append(v.Dict.Values.At(place / below % v.Dict.Len()))
		}
		f.args = append(f.args, of)
	}
	f.reset(len(c.fresh), n)
	if n.kernel(f) != nil || f.out.Null != nil && slices.Contains(f.out.Null[:f.n], true) {
		return false
	}
	final := c.texts.add(&f.out)
	if len(c.texts.dict.Values.Data) > combinedBytes {
		c.vain = vainCombined
	}
	for i, place := range c.fresh {
		c.codes[place] = 1 + final[i]
	}
	settleCodes(codes, final)
	return true
}
