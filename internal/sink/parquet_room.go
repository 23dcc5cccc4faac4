package sink

// parquetRoom is how large the parts of a file may get, and memory that all
// its columns share, one using it at a time.
type parquetRoom struct {
	group int64 // bytes of a row group; one of usual pages is some row less than rowGroupRows
	page  int   // bytes of a page, and of a dictionary

	body, packed, coded []byte // of the page that is being closed
}

const (
	usualGroup = 128 << 20
	usualPage  = 1 << 20 // as most writers have it
	leastPage  = 8 << 10 // smaller ones do not compress
	// groupPart: a row group takes twice its size while its buffers grow.
	groupPart = 3
	// pagePart: the open page of a column takes its values or their codes,
	// and a dictionary with its index up to ten times its bytes.
	pagePart = 24
)

// newParquetRoom divides the memory of the options among the columns.
func newParquetRoom(o Options, columns int) *parquetRoom {
	r := &parquetRoom{group: usualGroup, page: usualPage}
	if o.Memory > 0 {
		r.group = min(o.Memory/groupPart, usualGroup)
		r.page = int(max(leastPage, min(o.Memory/pagePart/int64(max(columns, 1)), usualPage)))
	}
	if o.GroupBytes > 0 {
		r.group = min(r.group, o.GroupBytes)
	}
	return r
}
