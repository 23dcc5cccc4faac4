package spill

// listedBytes is about the memory for a block until it is forgotten: its extent and its number of
// rows in the writer's list, later its hole in the list of freed ones, and the spare room of
// these slices.
const listedBytes = 48

// list counts blocks that are listed or, if negative, no more. f.mu is held.
func (f *File) list(blocks int) {
	f.listed += int64(blocks)
	if tell := f.space.config.Listed; tell != nil && blocks != 0 {
		tell(int64(blocks) * listedBytes)
	}
}
