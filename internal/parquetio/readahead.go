package parquetio

import "os"

// readAhead asks the system to fetch the wanted columns of a unit, once. It
// is a hint: what goes wrong is seen when the unit is read.
func (s *Scan) readAhead(unit int) {
	if unit >= len(s.units) || s.hinted[unit].Swap(true) {
		return
	}
	f := s.d.files[s.fileOf[unit]]
	if f.src.reader != nil {
		return
	}
	group := &f.meta.RowGroups[s.units[unit].Group]
	_ = f.src.use(func(h *os.File) {
		for _, leaf := range s.leaves[f.layout] {
			if leaf < 0 {
				continue
			}
			off, n, err := f.chunkRange(&group.Columns[f.leaves[leaf].index].MetaData)
			if err == nil {
				willNeed(h, off, n)
			}
		}
	})
}
