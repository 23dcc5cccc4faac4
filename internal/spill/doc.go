// Package spill keeps blocks of bytes in files on disk while a run needs
// them: the private directory, the files, checksums, compression, the limit,
// and the removal of everything at the end.
package spill
