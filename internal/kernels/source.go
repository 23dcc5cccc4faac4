package kernels

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Source is the kernels of one .cu file. Each is loaded as a module of its own: a run compiles
// those that it launches, all at the same time. Nothing is compiled more often for that, since kernels
// share no code but inlined.
type Source struct {
	PTX     []byte
	Kernels []string // in the order of the source

	once  sync.Once
	split []*cuda.Source
}

// parts is the source's kernels, one by one.
func (s *Source) parts() []*cuda.Source {
	s.once.Do(func() {
		chunks := readChunks(s.PTX)
		for _, name := range s.Kernels {
			s.split = append(s.split, &cuda.Source{Kernel: name, PTX: partOf(chunks, name)})
		}
	})
	return s.split
}

// chunk is a declaration or definition of PTX, or one of the lines at its head.
type chunk struct {
	text   []byte
	kernel bool
	symbol []byte // nil: a line of the head
}

var (
	// chunkStarts are how lines begin that begin a chunk. Other lines that begin with a
	// point are between the parameters of a kernel and its body.
	chunkStarts = regexp.MustCompile(`^\.(version|target|address_size|visible|weak|extern|global|const|shared|func)\b`)

	codeSymbol     = regexp.MustCompile(`\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)`)
	variableSymbol = regexp.MustCompile(`([\w$]+)(?:\[\d*\])?\s*[=;]`)
)

// readChunks cuts PTX, as the generator leaves it, into chunks.
func readChunks(ptx []byte) (chunks []chunk) {
	begin := 0
	for at := 0; at < len(ptx); {
		end := at + bytes.IndexByte(ptx[at:], '\n') + 1
		if end == at {
			end = len(ptx)
		}
		if at > begin && ptx[at] == '.' && chunkStarts.Match(ptx[at:end]) {
			chunks = append(chunks, newChunk(ptx[begin:at]))
			begin = at
		}
		at = end
	}
	return append(chunks, newChunk(ptx[begin:]))
}

func newChunk(text []byte) chunk {
	c := chunk{text: text}
	head, _, _ := bytes.Cut(text, []byte("{"))
	if match := codeSymbol.FindSubmatch(head); match != nil {
		c.kernel, c.symbol = bytes.Contains(head, []byte(".entry")), match[1]
	} else if match := variableSymbol.FindSubmatch(head); match != nil {
		c.symbol = match[1]
	}
	return c
}

// partOf is the PTX of one kernel: the head, the kernel, and what these name.
func partOf(chunks []chunk, kernel string) []byte {
	in, text := make([]bool, len(chunks)), []byte(nil)
	for more := true; more; {
		more = false
		for i, c := range chunks {
			wanted := c.symbol == nil || string(c.symbol) == kernel || !c.kernel && bytes.Contains(text, c.symbol)
			if wanted && !in[i] {
				in[i], more = true, true
				text = append(text, c.text...) // in any order, to look for symbols
			}
		}
	}
	text = text[:0]
	for i, c := range chunks {
		if in[i] {
			text = append(text, c.text...)
		}
	}
	return text
}
