package input

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
)

// Digest tells inputs apart: it is the same for the same files, wherever they lie, and another one
// once one of them has other rows; "": nothing is known of the input that would tell.
func Digest(in Input) (string, error) {
	switch in := in.(type) {
	case *remoteInput:
		return Digest(in.Input)
	case *parquetInput:
		return in.d.Digest()
	case *arrowInput:
		h := sha256.New()
		for _, f := range in.files {
			_, _ = fmt.Fprintf(h, "%q %d %d %d\n", filepath.Base(f.name), f.size, f.Records(), f.src.Modified().UnixNano())
		}
		return hex.EncodeToString(h.Sum(nil)[:16]), nil
	}
	return "", nil
}

// Label is what messages call an input that Digest knows: the name of its first file, without its
// folder, and how many there are besides; "" of another one.
func Label(in Input) string {
	var names []string
	switch in := in.(type) {
	case *remoteInput:
		return Label(in.Input)
	case *parquetInput:
		for _, f := range in.d.Files() {
			names = append(names, f.Name)
		}
	case *arrowInput:
		for _, f := range in.files {
			names = append(names, f.name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return filepath.Base(names[0])
	}
	return fmt.Sprintf("%s and %d more", filepath.Base(names[0]), len(names)-1)
}

// Rows is how many rows an input has; -1: not known.
func Rows(in Input) int64 { return in.sizes().Rows }
