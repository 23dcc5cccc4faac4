//go:build !amd64

package parquetio

import "github.com/klauspost/compress/snappy"

// decodeSnappy fills dst, whose size check has compared, with what src gives.
func decodeSnappy(dst, src []byte) error {
	_, err := snappy.Decode(dst, src)
	return err
}
