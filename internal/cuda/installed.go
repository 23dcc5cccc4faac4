package cuda

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
)

// The NVIDIA driver has two halves with one version number: a kernel module
// and libcuda. They come apart where only one of them was updated, or where a
// container brings its own libcuda. The driver API tells neither number.

var (
	moduleVersion  = compiledLater(`(?m)^NVRM version:.*?\s(\d{3,}\.\d+(?:\.\d+)?)\s`)
	libraryVersion = compiledLater(`/libcuda\.so\.(\d{3,}\.[\d.]*\d)`)

	unknownFirmware = compiledLater(`(?m)^Video BIOS:\s*\?`)
)

// compiledLater is a regular expression that is compiled when it is needed: few runs use a device.
func compiledLater(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// Present reports whether Open is worth trying: a driver is loaded, here or beside a WSL 2,
// or the environment names a library. It opens nothing and takes microseconds.
func Present() bool {
	for _, path := range []string{"/proc/driver/nvidia/version", "/dev/dxg"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return os.Getenv(libraryVariable) != ""
}

// Initialized reports whether the kernel module has all devices initialized, as in persistence
// mode, or while some process has them open. Else the first process that opens one waits for that,
// for seconds, and cannot even end meanwhile. The module tells it only by the versions of their
// firmware, which it does not know before; where it tells nothing they are taken for initialized.
func Initialized() bool { return initializedIn(os.DirFS("/")) }

func initializedIn(root fs.FS) bool {
	files, err := fs.Glob(root, "proc/driver/nvidia/gpus/*/information")
	if err != nil {
		return true
	}
	return !slices.ContainsFunc(files, func(file string) bool {
		text, err := fs.ReadFile(root, file)
		return err == nil && unknownFirmware().Match(text)
	})
}

// KernelModule is the version of the loaded kernel module, such as 580.65.06;
// empty: none is loaded, or it does not tell.
func KernelModule() string { return find(os.DirFS("/"), "proc/driver/nvidia/version", moduleVersion()) }

// find is what the first group of the pattern matches in a file.
func find(root fs.FS, path string, pattern *regexp.Regexp) string {
	text, err := fs.ReadFile(root, path)
	if err != nil {
		return ""
	}
	if found := pattern.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}

// installedVersions is both numbers as the end of a message.
func installedVersions() string { return versionsIn(os.DirFS("/")) }

func versionsIn(root fs.FS) string {
	known := func(version string) string {
		if version == "" {
			return "of an unknown version"
		}
		return version
	}
	return "; the kernel module is " + known(find(root, "proc/driver/nvidia/version", moduleVersion())) +
		", libcuda " + known(find(root, "proc/self/maps", libraryVersion()))
}
