package arena

// Chunks returns the chunks by number, for loops that follow many refs: the
// value of ref begins at byte 8*uint32(ref) of chunk ref>>32. It holds for
// values that were put before the call, as Get does.
func (r *Arenas) Chunks() [][]byte {
	if p := r.chunks.Load(); p != nil {
		return *p
	}
	return nil
}
