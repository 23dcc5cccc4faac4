package expr

import "github.com/gagg-dev/gagg/internal/column"

// A case whose values are all constant texts gives rows codes into a dictionary of these. It is
// made when the case is bound: no text is copied, and what groups by the case finds the group of
// each code once.

// constants is the values of such a case.
type constants struct {
	number *bound // the same case, of the values' numbers in dict
	dict   *column.Dict
	null   []bool // by number; nil: none is NULL
}

// newConstants is nil if a value is not a constant text.
func newConstants(t column.Type, c *choice) *constants {
	if t.Rep() != column.RepBytes {
		return nil
	}
	out := &constants{dict: &column.Dict{}}
	texts, number := &out.dict.Values, &choice{conds: c.conds}
	texts.Type = t
	add := func(v *bound) *bound {
		if v.value.Null && out.null == nil {
			out.null = make([]bool, len(c.thens)+1)
		}
		if v.value.Null {
			out.null[texts.Len] = true
		}
		texts.Append(column.Value{Bytes: v.value.Bytes})
		return newConst(column.Value{Type: int64Type, Int: int64(texts.Len - 1)})
	}
	for _, v := range c.thens {
		if v.kind != boundConst {
			return nil
		}
		number.thens = append(number.thens, add(v))
	}
	if c.els.kind != boundConst {
		return nil
	}
	number.els = add(c.els)
	out.number = newChoice(int64Type, number)
	return out
}

// chooseConstant computes the rows of a case of constant texts.
func (s *step) chooseConstant() error {
	number, err := s.args[0].flat()
	if err != nil {
		return err
	}
	c := s.node.constants
	s.f.codes = sized(s.f.codes, number.Len)
	for i, n := range number.Int[:number.Len] {
		s.f.codes[i] = int32(n)
	}
	s.res = column.Vector{Type: s.node.typ, Len: number.Len, Codes: s.f.codes, Dict: c.dict}
	if c.null != nil {
		s.f.nulls = gather(s.f.nulls, c.null, s.f.codes)
		s.res.Null = s.f.nulls
	}
	return nil
}
