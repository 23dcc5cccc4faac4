package agg

// min(x, n) and max(x, n) keep the n best keys in the row, the best first, if
// n is small and a value is a word; else in a chain. Keys are complements for
// max, so that less is better. A place without a value holds the greatest
// key; the count of rows says how many have one.

// topWords is the most keys that are kept in the row: of a cache line of keys
// the last one decides for most rows.
const topWords = 8

func updateTop(words []uint64, stride int, gids []uint32, keys []int64, n int) {
	keys = keys[:len(gids)]
	for i, g := range gids {
		w := words[int(g)*stride:][:n:n]
		if keys[i] < int64(w[n-1]) {
			insertTop(w, keys[i])
		}
	}
}

// insertTop puts a key into its place among w, and the last one out.
func insertTop(w []uint64, key int64) {
	i := len(w) - 1
	for ; i > 0 && key < int64(w[i-1]); i-- {
		w[i] = w[i-1]
	}
	w[i] = uint64(key)
}

func combineTop(w, from []uint64) {
	for _, key := range from {
		if int64(key) >= int64(w[len(w)-1]) {
			return
		}
		insertTop(w, int64(key))
	}
}

// top writes the lists of min(x, n) and max(x, n) from keys in the row.
func (f *finisher) top() error {
	s := f.slot(0)
	for i, row := range f.groups() {
		n := f.valid(row)
		if n == 0 {
			f.setNothing(i)
			continue
		}
		from := f.out.Elem.Len
		for j := range min(int(n), s.chain.n) {
			if err := f.addElement(&s.chain, &entry{words: row[s.hot+j:]}); err != nil {
				return err
			}
		}
		if err := f.endElements(i, from); err != nil {
			return err
		}
	}
	return nil
}
