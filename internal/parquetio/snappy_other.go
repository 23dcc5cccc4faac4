//go:build !amd64

package parquetio

import (
	"errors"

	"github.com/klauspost/compress/snappy"
)

// decodeSnappy fills dst, whose size check has compared, with what src gives.
func decodeSnappy(dst, src []byte) error {
	_, err := snappy.Decode(dst, src)
	return err
}

// snappyResumes tells that there is no snappySome.
const snappyResumes = false

func snappySome([]byte, []byte, int, int, int) (nextOp, nextIP int, err error) {
	return 0, 0, errors.ErrUnsupported
}
