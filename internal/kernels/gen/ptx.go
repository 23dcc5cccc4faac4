package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// cleanPTX drops what does not reach the device: comments, the compiler's
// banner, file and line directives, empty lines.
func cleanPTX(text []byte) []byte {
	var clean bytes.Buffer
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimRight(line, " \t\n")
		switch first, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); first {
		case "", ".file", ".loc":
		default:
			clean.WriteString(line)
			clean.WriteByte('\n')
		}
	}
	return clean.Bytes()
}

// entry is a kernel as PTX declares it.
type entry struct {
	name   string
	params []param
}

// param is a kernel's parameter in PTX.
type param struct {
	offset, size, align int
}

// bytes is the size of all parameters, without padding behind the last.
func (e entry) bytes() int {
	if len(e.params) == 0 {
		return 0
	}
	last := e.params[len(e.params)-1]
	return last.offset + last.size
}

var (
	entryText = regexp.MustCompile(`\.entry\s+(\w+)\s*\(([^)]*)\)`)
	paramText = regexp.MustCompile(`^\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z](\d+)\s+(?:\.ptr\s+)?(?:\.(?:global|const|shared|local)\s+)?(?:\.align\s+\d+\s+)?\w+(?:\[(\d+)\])?$`)
)

// readEntries lists the kernels of a PTX text, in order.
func readEntries(text []byte) ([]entry, error) {
	var entries []entry
	for _, match := range entryText.FindAllStringSubmatch(string(text), -1) {
		e := entry{name: match[1]}
		for line := range strings.SplitSeq(match[2], ",") {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			p, err := readParam(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			p.offset = roundUp(e.bytes(), p.align)
			e.params = append(e.params, p)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// readParam reads one parameter: a scalar, whose alignment is its size, or an
// array of bytes.
func readParam(line string) (param, error) {
	match := paramText.FindStringSubmatch(line)
	if match == nil {
		return param{}, fmt.Errorf("parameter %q of PTX is not understood", line)
	}
	bits, _ := strconv.Atoi(match[2])
	p := param{size: bits / 8, align: bits / 8}
	if match[1] != "" {
		p.align, _ = strconv.Atoi(match[1])
	}
	if match[3] != "" {
		n, _ := strconv.Atoi(match[3])
		p.size *= n
	}
	return p, nil
}
