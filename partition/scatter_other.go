//go:build !amd64

package partition

// scatter copies rows to the ends of their buckets, up to one for which free has no room, and
// returns how many it copied. A row's hash is step words behind that of the row before.
//
// The loop over words is faster than copy for rows of a cache line or two.
func scatter(free [][]uint64, hashes []uint64, step int, rows []uint64, stride int, skip, shift uint) (done int) {
	n := len(rows) / stride
	for i := range n {
		dst := &free[hashes[i*step]<<skip>>shift]
		if len(*dst) < stride {
			return i
		}
		for k, w := range rows[i*stride : (i+1)*stride] { //nolint:staticcheck // a copy is a call
			(*dst)[k] = w
		}
		*dst = (*dst)[stride:]
	}
	return n
}
