package exec

import (
	"sync"

	"github.com/gagg-dev/gagg/internal/spill"
)

// valueRuns is where the values of long chains go: blocks of one file that
// all goroutines share, opened when the first one is written. It implements
// agg.Runs.
type valueRuns struct {
	open   func() (*spill.File, error)
	mu     sync.Mutex
	file   *spill.File
	blocks []spill.Extent // by ref, from 1 on
}

// Write stores a block and returns its ref, which is not 0.
func (v *valueRuns) Write(block []byte) (ref uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.file == nil {
		if v.file, err = v.open(); err != nil {
			return 0, err
		}
	}
	e, err := v.file.Append(block, 0, 0)
	if err != nil {
		return 0, err
	}
	v.blocks = append(v.blocks, e)
	return uint64(len(v.blocks)), nil
}

// Read returns a block, in the memory of buf if that is large enough.
func (v *valueRuns) Read(ref uint64, buf []byte) ([]byte, error) {
	v.mu.Lock()
	e, file := v.blocks[ref-1], v.file
	v.mu.Unlock()
	return file.Read(e, buf)
}
