package cpu

// This file is what a merger does about long strings, which lie anywhere in the memory of the
// workers.

// touchLong reads the ends of the long strings of rows, and of the groups that they are likely to
// belong to. Comparing them in the loop that finds the groups would wait for memory twice for each
// row.
func (m *Merger) touchLong(rows []uint64, groups []uint32) {
	chunks, stride := m.cfg.Arenas.Chunks(), m.cfg.Stride
	sum := byte(0)
	for i, g := range groups {
		if g != noGroup {
			sum += m.cfg.Keys.Touch(rows[i*stride:], m.decoder.Base, chunks) + m.cfg.Keys.Touch(m.row(g), m.decoder.Base, chunks)
		}
	}
	m.touched += uint64(sum)
}
