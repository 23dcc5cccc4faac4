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

// Kernels is the fingerprint of the kernels below the root of the module: of the manifests beside their PTX. The emulator is built with the one of its time (Built).
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

// Fresh is an error where the emulator was built from other kernels than the module has. These may take other
// parameters than they are launched with, and tests wait for what never comes. Outside the module, as on a machine
// that has the tests alone, there is nothing to compare.
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

// moduleRoot is the folder above the working directory, or that itself, that has the manifest; empty where there is none.
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
