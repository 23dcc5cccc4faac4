package parquetio

import "os"

// readAhead asks the system to fetch the wanted columns of the row group that comes behind the one of a unit, once. It
// is a hint: what goes wrong is seen when it is read.
func (s *Scan) readAhead(unit int) {
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
	if f.src.reader != nil {
		return
	}
	_ = f.src.use(func(h *os.File) {
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
