package parquetio

import "os"

// readAhead asks the system, once, to fetch the wanted columns of the row group behind that of a
// unit; of those on a server the early ones. It is a hint: errors are seen when the row group is
// read.
func (s *Scan) readAhead(unit int, early func(c int) bool) {
	next := unit + 1
	for next < len(s.units) && s.units[next].of == s.units[unit].of {
		next++
	}
	if next == len(s.units) {
		return
	}
	g := s.units[next].of
	if s.hinted[g].Swap(true) {
		return
	}
	f := s.d.files[s.fileOf[g]]
	if f.far() != nil {
		s.want(g, false, early)
		return
	}
	if f.src.Given() != nil {
		return
	}
	_ = f.src.Use(func(h *os.File) {
		for _, leaf := range s.leaves[f.layout] {
			if leaf < 0 {
				continue
			}
			off, n, err := f.chunkRange(&f.chunk(s.groups[g].Group, f.leaves[leaf].index).MetaData)
			if err == nil {
				willNeed(h, off, n)
			}
		}
	})
}
