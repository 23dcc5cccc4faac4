package key

// Rows have the hash of their key in their first word, before the key words, or they have no hash.
//
// HASH-OMITTED: rows have no hash if their keys are a few values that are hashed by their bits, as
// integers are. Their hash is computed each time, by one multiplication for each value. A row of
// an integer and a count is a third shorter without it.

// mostRehashed is the most values of a key without a stored hash. Each value takes a
// multiplication whenever the row is read. Four take some 16 cycles, about as long as reading a
// word from the second-level cache.
const mostRehashed = 4

// OmitHash makes rows have no hash, if it can be computed from their key words. It is called
// before there are any rows. It is not called where a device takes part.
func (l *Layout) OmitHash() {
	for i := range l.fields {
		if l.fields[i].form != FormBits {
			return
		}
	}
	if l.bare = 0 < len(l.fields) && len(l.fields) <= mostRehashed; l.bare && len(l.fields) == 1 && l.fields[0].nullBit == 0 {
		l.only = 1<<l.fields[0].bits - 1
	}
}

// Base is the index of the first key word in a row.
func (l *Layout) Base() int {
	if l.bare {
		return 0
	}
	return 1
}

// RowHash is the hash of the key of a row.
func (l *Layout) RowHash(row []uint64) uint64 {
	if !l.bare {
		return row[0]
	}
	return l.rehash(row)
}

func (l *Layout) rehash(row []uint64) uint64 {
	h := uint64(hashSeed)
	if l.only != 0 {
		return mix(h, row[0]&l.only)
	}
	for i := range l.fields {
		h = mix(h, l.fields[i].hashOf(row))
	}
	return h
}

// hashOf is the field hash of a value that is hashed by its bits.
func (f *field) hashOf(words []uint64) uint64 {
	if words[f.nullWord]&f.nullBit != 0 {
		return NullHash
	}
	return words[f.word] >> (f.shift & 63) & (1<<f.bits - 1)
}

// RowHashes sets hashes to those of as many rows, which lie end to end, stride words each.
func (l *Layout) RowHashes(rows []uint64, stride int, hashes []uint64) {
	switch {
	case !l.bare:
		for i, at := 0, 0; i < len(hashes); i, at = i+1, at+stride {
			hashes[i] = rows[at]
		}
	case l.only != 0:
		for i, at := 0, 0; i < len(hashes); i, at = i+1, at+stride {
			hashes[i] = mix(hashSeed, rows[at]&l.only)
		}
	case len(l.fields) == 2 && l.fields[0].nullBit|l.fields[1].nullBit == 0:
		l.rowHashes2(rows, stride, hashes)
	default:
		for i := range hashes {
			hashes[i] = hashSeed
		}
		for k := range l.fields {
			f := &l.fields[k]
			for i, at := 0, 0; i < len(hashes); i, at = i+1, at+stride {
				hashes[i] = mix(hashes[i], f.hashOf(rows[at:at+stride]))
			}
		}
	}
}

// rowHashes2 is RowHashes for two values that are never NULL.
func (l *Layout) rowHashes2(rows []uint64, stride int, hashes []uint64) {
	f, g := &l.fields[0], &l.fields[1]
	w, x, fShift, gShift, fMask, gMask := f.word, g.word, f.shift&63, g.shift&63, uint64(1)<<f.bits-1, uint64(1)<<g.bits-1
	for i := range hashes {
		row := rows[i*stride:]
		hashes[i] = mix(mix(hashSeed, row[w]>>fShift&fMask), row[x]>>gShift&gMask)
	}
}
