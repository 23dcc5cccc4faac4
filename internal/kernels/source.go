package kernels

import (
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/image"
)

// Source is the kernels of one .cu file. Each is loaded as a module of its own, so that a run
// compiles only the kernels that it launches, all at the same time. Little is compiled twice:
// kernels share inlined code only, except for one function in some sources.
type Source struct {
	PTX     []byte
	Code    []byte   // machine code (package image); empty: each device's driver compiles the PTX
	Kernels []string // in the order of the source

	once  sync.Once
	split []*cuda.Source

	mu       sync.Mutex
	unpacked map[architecture]map[string][]byte // machine code, by kernel
}

// architecture is the compute capability of a device.
type architecture struct{ major, minor int }

// parts is the source's kernels, one by one.
func (s *Source) parts() []*cuda.Source {
	s.once.Do(func() {
		for i, ptx := range image.Parts(s.PTX, s.Kernels) {
			code := func(major, minor int) []byte { return s.code(architecture{major, minor})[s.Kernels[i]] }
			s.split = append(s.split, &cuda.Source{Kernel: s.Kernels[i], PTX: ptx, Code: code})
		}
	})
	return s.split
}

// code is the machine code of the kernels for an architecture; empty: there is none.
func (s *Source) code(a architecture) map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	code, known := s.unpacked[a]
	if !known {
		code, _ = image.Unpack(s.Code, s.PTX, a.major, a.minor) // damaged: as if there were none, the PTX does the same
		if s.unpacked == nil {
			s.unpacked = map[architecture]map[string][]byte{}
		}
		s.unpacked[a] = code
	}
	return code
}
