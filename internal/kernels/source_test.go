package kernels

import (
	"bytes"
	"testing"
)

// Parts of all that ships are whole: a body for each kernel, and no more text than the source
// has, function by function.
func TestShippedParts(t *testing.T) {
	for _, s := range []*Source{&egaKey1Source, &egaKey2Source, &egaAnySource, &egaScatterChainSource, &parquetDecodeSource, &parquetSnappySource} {
		for _, p := range s.parts() {
			if n := bytes.Count(p.PTX, []byte(".entry "+p.Kernel+"(")); n != 1 || bytes.Count(p.PTX, []byte(".entry")) != 1 {
				t.Errorf("%s: not one kernel in its part", p.Kernel)
			}
			if bytes.Count(p.PTX, []byte("{")) != bytes.Count(p.PTX, []byte("}")) || len(p.PTX) > len(s.PTX)/2+len(s.PTX)/4 {
				t.Errorf("%s: %d bytes of %d", p.Kernel, len(p.PTX), len(s.PTX))
			}
		}
	}
}
