package image

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var names = []string{"one", "one_more"}

// fake stands for an assembler: what it makes tells the part and the architecture.
func fake(part []byte, architecture int) ([]byte, error) {
	return fmt.Appendf(nil, "%s\nfor %d\n", part, architecture), nil
}

func pack(t *testing.T) []byte {
	t.Helper()
	file, err := Pack([]byte(twoKernels), names, []int{90, 80, 86, 121}, fake)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A device gets code of its own architecture, else of the next lower one with the same major
// number, else none; and of each kernel what was made of its part.
func TestCode(t *testing.T) {
	file, parts := pack(t), Parts([]byte(twoKernels), names)
	for _, c := range []struct{ major, minor, want int }{
		{9, 0, 90},
		{8, 0, 80},
		{8, 5, 80},
		{8, 6, 86},
		{8, 9, 86},
		{12, 1, 121},
		{7, 5, 0},
		{10, 0, 0},
		{12, 0, 0},
	} {
		code, err := Unpack(file, []byte(twoKernels), c.major, c.minor)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			if len(code) > 0 {
				t.Errorf("%d.%d: code of %d kernels, want none", c.major, c.minor, len(code))
			}
			continue
		}
		for i, name := range names {
			want, _ := fake(parts[i], c.want)
			if !bytes.Equal(code[name], want) || len(code) != len(names) {
				t.Errorf("%d.%d: %d kernels, of %s %d bytes that end in %q, want %d", c.major, c.minor, len(code), name, len(code[name]), last(code[name]), c.want)
			}
		}
	}
}

func last(code []byte) []byte { return code[max(len(code)-4, 0):] }

// CODE-FRESH: there is no code for PTX that has changed.
func TestStaleCode(t *testing.T) {
	code, err := Unpack(pack(t), []byte(strings.Replace(twoKernels, "ret;", "nop; ret;", 1)), 9, 0)
	if len(code) > 0 || err != nil {
		t.Errorf("code of %d kernels, %v", len(code), err)
	}
	if code, err = Unpack(nil, []byte(twoKernels), 9, 0); len(code) > 0 || err != nil {
		t.Errorf("no file: code of %d kernels, %v", len(code), err)
	}
}

// A damaged file has no code of any kernel, and an error.
func TestDamagedCode(t *testing.T) {
	file := pack(t)
	for n := range len(file) {
		if code, err := Unpack(file[:n], []byte(twoKernels), 12, 1); len(code) > 0 || n > 0 && err == nil {
			t.Errorf("the first %d of %d bytes: code of %d kernels, %v", n, len(file), len(code), err)
		}
	}
	want := errors.New("no such instruction")
	_, err := Pack([]byte(twoKernels), names, []int{90}, func([]byte, int) ([]byte, error) { return nil, want })
	if !errors.Is(err, want) || !strings.Contains(err.Error(), "one for sm_90") {
		t.Errorf("a part that cannot be assembled: %v", err)
	}
}
