package filepool

import "os"

// Piece is how much Ahead asks for at once. Linux reads no more of a range than the largest request
// that the device takes, 256 KiB for some, and passes over the rest of the range.
const Piece = 256 << 10

// Ahead has the system read a range into its page cache, if the source is a file of the system, and
// does not wait for that. It asks for no piece that is there, if the system tells, and returns how
// many bytes it has asked for. It is a hint: reading the range tells what is wrong.
func (s *Source) Ahead(off, n int64) (asked int64) {
	_ = s.Use(func(f *os.File) { asked = ahead(f, off, n) })
	return asked
}
