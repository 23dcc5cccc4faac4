package cuda

import "io/fs"

// For tests of package cuda_test.

// OpenLibrary opens a driver of that name, whatever was opened before.
func OpenLibrary(name string) (*Driver, error) { return open(name) }

// OpenAnew opens the driver that Open opens, whatever was opened before.
func OpenAnew() (*Driver, error) { return open(libraryName()) }

// ErrorOf is the error for a code, before there is a context or from one.
func ErrorOf(c int, hasContext bool) error {
	if hasContext {
		return &Error{Code: c, class: classOf(code(c))}
	}
	return &Error{Code: c, class: starting[code(c)]}
}

// Sticky reports whether a code loses the context.
func Sticky(c int) bool { return code(c).sticky() }

// VersionsIn is the versions of both halves of the driver.
func VersionsIn(root fs.FS) string { return versionsIn(root) }

// InitializedIn is Initialized where the files are below root.
func InitializedIn(root fs.FS) bool { return initializedIn(root) }

// PTXVersions is what the head of PTX asks for.
func PTXVersions(ptx string) string { return ptxVersions([]byte(ptx)) }

// Functions are the names of all functions of the driver that are called.
func Functions() []string {
	var names []string
	for _, s := range symbols {
		names = append(names, s.name)
	}
	return names
}
