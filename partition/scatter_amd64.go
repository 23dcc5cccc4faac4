package partition

// scatter copies rows to the ends of their buckets, up to one for which free has no room, and
// returns how many it copied. A row's hash is step words behind that of the row before.
//
// The rows of a bucket come now and then, so that each cache line of its page is far from the
// processor when the first row goes there, and many stores that wait for lines make the others wait
// too. So with each row the line two behind it is prefetched: on 16 cores of an Intel Xeon a row of
// two words took 26 ns without and 9 with it (docs/experiments/0001).
//
// There is no write barrier where free is changed: a slice goes on to the rest of the same page,
// which pages has too.
//
//go:noescape
func scatter(free [][]uint64, hashes []uint64, step int, rows []uint64, stride int, skip, shift uint) (done int)
