package parquetio

import (
	"errors"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
)

// unsplit undoes BYTE_STREAM_SPLIT: values of width bytes whose first bytes
// come first, then their second bytes, and so on. dst is as long as src.
func unsplit(dst, src []byte, width int) error {
	if len(src)%width != 0 {
		return errors.New("damaged: BYTE_STREAM_SPLIT data is not a multiple of the width of its values")
	}
	var library bytestreamsplit.Encoding // vectorised, for the usual widths
	switch width {
	case 4:
		_, err := library.DecodeFloat(cast[float32](dst), src)
		return err
	case 8:
		_, err := library.DecodeDouble(cast[float64](dst), src)
		return err
	}
	n := len(src) / width
	for k := range width {
		stream := src[k*n : (k+1)*n]
		for i, b := range stream {
			dst[i*width+k] = b
		}
	}
	return nil
}
