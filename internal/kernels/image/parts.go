package image

import (
	"bytes"
	"maps"
	"regexp"
	"sync"
)

// Parts cuts PTX, as the generator leaves it, into that of each kernel.
func Parts(ptx []byte, kernels []string) [][]byte {
	chunks := readChunks(ptx)
	parts := make([][]byte, len(kernels))
	for i, name := range kernels {
		parts[i] = partOf(chunks, name)
	}
	return parts
}

// chunk is a declaration or definition of PTX, or one of the lines at its head.
type chunk struct {
	text   []byte
	kernel bool
	symbol string          // empty: a line of the head
	names  map[string]bool // symbols of other chunks, no kernels, that it names
}

var (
	// chunkStarts are how lines begin that begin a chunk. Other lines that begin with a
	// point are between the parameters of a kernel and its body.
	chunkStarts = compiledLater(`^\.(version|target|address_size|visible|weak|extern|global|const|shared|func)\b`)

	codeSymbol     = compiledLater(`\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)`)
	variableSymbol = compiledLater(`([\w$]+)(?:\[\d*\])?\s*[=;]`)
)

// compiledLater is a regular expression that is compiled when it is needed: few runs use a device.
func compiledLater(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// readChunks cuts PTX, as the generator leaves it, into chunks.
func readChunks(ptx []byte) (chunks []chunk) {
	begin, at := 0, 0
	for line := range bytes.Lines(ptx) {
		if at > begin && line[0] == '.' && chunkStarts().Match(line) {
			chunks = append(chunks, newChunk(ptx[begin:at]))
			begin = at
		}
		at += len(line)
	}
	chunks = append(chunks, newChunk(ptx[begin:]))
	symbols := map[string]bool{}
	for i := range chunks {
		if !chunks[i].kernel && chunks[i].symbol != "" {
			symbols[chunks[i].symbol] = true
		}
	}
	for i := range chunks {
		chunks[i].names = namesIn(chunks[i].text, symbols)
	}
	return chunks
}

func newChunk(text []byte) chunk {
	c := chunk{text: text}
	head, _, _ := bytes.Cut(text, []byte("{"))
	if match := codeSymbol().FindSubmatch(head); match != nil {
		c.kernel, c.symbol = bytes.Contains(head, []byte(".entry")), string(match[1])
	} else if match := variableSymbol().FindSubmatch(head); match != nil {
		c.symbol = string(match[1])
	}
	return c
}

// namesIn is which of the symbols are words of a text.
func namesIn(text []byte, symbols map[string]bool) map[string]bool {
	names := map[string]bool{}
	if len(symbols) == 0 {
		return names
	}
	for i := 0; i < len(text); i++ {
		begin := i
		for i < len(text) && inWord[text[i]] {
			i++
		}
		if begin == i || begin > 0 && (text[begin-1] == '%' || text[begin-1] == '.') {
			continue // nothing, a register, or part of an instruction
		}
		if symbols[string(text[begin:i])] {
			names[string(text[begin:i])] = true
		}
	}
	return names
}

// inWord is the bytes of which names are made.
var inWord = func() (in [256]bool) {
	for c := range in {
		in[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
	}
	return in
}()

// partOf is the PTX of one kernel: the head, the kernel, and what these name.
func partOf(chunks []chunk, kernel string) []byte {
	wanted := map[string]bool{"": true, kernel: true}
	for known := 0; known < len(wanted); {
		known = len(wanted)
		for i := range chunks {
			if wanted[chunks[i].symbol] {
				maps.Copy(wanted, chunks[i].names)
			}
		}
	}
	var text []byte
	for i := range chunks {
		if wanted[chunks[i].symbol] {
			text = append(text, chunks[i].text...)
		}
	}
	return text
}
