package cuda_test

import (
	"debug/elf"
	"runtime"
	"testing"
)

// needed is the libraries that a program is linked with.
func needed(t *testing.T, program string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("not an ELF system")
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return libraries
}
