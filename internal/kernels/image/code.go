package image

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// window is what a code file is packed and unpacked over: code of one architecture repeats that of
// another, which is up to some hundred KiB before it.
const window = 4 << 20

// Fingerprint is that of a file's content: 128 bits of SHA-256, in hexadecimal.
func Fingerprint(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// Pack makes a code file. assemble returns the machine code of a part of the PTX for an
// architecture, a number of two or three digits.
func Pack(ptx []byte, kernels []string, architectures []int, assemble func(part []byte, architecture int) ([]byte, error)) ([]byte, error) {
	var text bytes.Buffer
	text.WriteString(Fingerprint(ptx))
	for _, a := range architectures {
		fmt.Fprintf(&text, " %d", a)
	}
	text.WriteByte('\n')
	parts := Parts(ptx, kernels)
	for _, a := range architectures {
		for i, name := range kernels {
			code, err := assemble(parts[i], a)
			if err != nil {
				return nil, fmt.Errorf("%s for sm_%d: %w", name, a, err)
			}
			fmt.Fprintf(&text, "%d %s %d\n", a, name, len(code))
			text.Write(code)
		}
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(text.Bytes(), nil), nil
}

// Unpack is the machine code, by kernel, of a code file for devices of a compute capability; empty:
// there is none that was made from this PTX.
func Unpack(file, ptx []byte, major, minor int) (map[string][]byte, error) {
	if len(file) == 0 {
		return nil, nil
	}
	unpacked, err := zstd.NewReader(bytes.NewReader(file), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer unpacked.Close()
	r := bufio.NewReader(unpacked)
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the head of a code file: %w", err)
	}
	of, list, _ := strings.Cut(strings.TrimSuffix(head, "\n"), " ")
	if of != Fingerprint(ptx) {
		return nil, nil // CODE-FRESH
	}
	best, err := bestOf(list, major, minor)
	if best == 0 || err != nil {
		return nil, err
	}
	return read(r, best)
}

// bestOf is which of a list of architectures a device runs best; 0: it runs none of them.
func bestOf(list string, major, minor int) (best int, err error) {
	for word := range strings.FieldsSeq(list) {
		var a int
		if _, err := fmt.Sscan(word, &a); err != nil {
			return 0, fmt.Errorf("architecture %q: %w", word, err)
		}
		if a/10 == major && a%10 <= minor && a > best {
			best = a
		}
	}
	return best, nil
}

// read takes the kernels of one architecture, behind the head of a file.
func read(r *bufio.Reader, best int) (map[string][]byte, error) {
	kernels := map[string][]byte{}
	for {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return kernels, nil
		}
		var a, size int
		var kernel string
		if _, err := fmt.Sscanf(line, "%d %s %d\n", &a, &kernel, &size); err != nil {
			return nil, fmt.Errorf("line %q of a code file: %w", line, err)
		}
		if a != best && len(kernels) > 0 {
			return kernels, nil
		}
		if a != best {
			_, err = r.Discard(size)
		} else {
			kernels[kernel] = make([]byte, size)
			_, err = io.ReadFull(r, kernels[kernel])
		}
		if err != nil {
			return nil, fmt.Errorf("%s for sm_%d: %w", kernel, a, err)
		}
	}
}
