package sink

import "math/bits"

// e19 is the largest power of ten in a word.
const e19 = 1e19

// wideDigits writes the decimal digits of w (four words, lowest first) to the
// end of buf and returns where they begin. It divides by 10^19 until nothing
// is left, so 77 digits cost five rounds.
func wideDigits(buf *[80]byte, w [4]uint64) int {
	at := len(buf)
	for {
		var rem uint64
		for i := 3; i >= 0; i-- {
			w[i], rem = bits.Div64(rem, w[i], e19)
		}
		last := w[0]|w[1]|w[2]|w[3] == 0
		for n := 0; n < 19 && (rem != 0 || !last); n++ {
			at--
			buf[at] = byte('0' + rem%10)
			rem /= 10
		}
		if last {
			return at
		}
	}
}
