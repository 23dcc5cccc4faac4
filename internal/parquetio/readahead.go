package parquetio

import "os"

// readAhead asks the system to fetch the wanted columns of a row group, once. It
// is a hint: what goes wrong is seen when it is read.
func (s *Scan) readAhead(g int) {
	if g >= len(s.groups) || s.hinted[g].Swap(true) {
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
