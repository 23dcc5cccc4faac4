package cpu

// This file is what a merger does about long strings, which lie anywhere in the memory of the workers.

// passMost is how many slots touchLong passes for a row: nearly all groups are nearer to their home slot.
const passMost = 8

// touchLong reads the ends of the long strings of rows, and of the groups that they are likely to belong to. Comparing them in the
// loop that finds the groups would wait for memory twice for each row.
func (m *Merger) touchLong(rows []uint64) {
	chunks, stride, d := m.cfg.Arenas.Chunks(), m.cfg.Stride, &m.dir
	sum := byte(0)
	for at := 0; at < len(rows); at += stride {
		row := rows[at : at+stride : at+stride]
		s := d.home(row[0])
		for n := 0; n < passMost && d.slots[s] != 0 && !d.tagged(d.slots[s], row[0]); n++ {
			s = d.next(s)
		}
		if e := d.slots[s]; e != 0 {
			sum += m.cfg.Keys.Touch(row, 1, chunks) + m.cfg.Keys.Touch(m.row(d.group(e)), 1, chunks)
		}
	}
	m.touched += uint64(sum)
}
