package spill

// listedBytes is about the memory that a block takes while it is not forgotten: its extent and its number of rows in the list of who
// wrote it, later its hole in the list of those that are freed, and what slices have behind their ends.
const listedBytes = 48

// list counts blocks that are listed or, if negative, no more. f.mu is held.
func (f *File) list(blocks int) {
	f.listed += int64(blocks)
	if tell := f.space.config.Listed; tell != nil && blocks != 0 {
		tell(int64(blocks) * listedBytes)
	}
}
