package emu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// manifest names what the PTX of the kernels was made from.
const manifest = "internal/kernels/ptx/MANIFEST"

// Kernels is the fingerprint of the kernels of a module: of the manifests beside their PTX. The
// emulator is built with the fingerprint of its time (Built).
func Kernels(root string) (string, error) {
	below, err := filepath.Glob(filepath.Join(root, "internal/kernels/*/ptx/MANIFEST"))
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, path := range append(below, filepath.Join(root, manifest)) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// Fresh is an error if the emulator was built from other kernels than the module has. Those may
// take other parameters than they are launched with, so that a test waits for ever. Outside the
// module, as on a machine that has only the tests, there is nothing to compare.
func (e *Emu) Fresh() error {
	root, err := moduleRoot()
	if root == "" || err != nil {
		return err
	}
	now, err := Kernels(root)
	if err != nil {
		return err
	}
	if built := e.Built(); built != now {
		return fmt.Errorf("the emulator was built from other kernels (%q) than there are now (%s): run make emu, or make emu-asan", built, now)
	}
	return nil
}

// moduleRoot is the working directory, or the next folder above it, that has the manifest; empty
// if none has.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, manifest)); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", nil
		}
		dir = above
	}
}
