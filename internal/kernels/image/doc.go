// Package image is what a driver loads of kernels: parts of PTX, and machine code.
//
// PTX of a source is cut into that of each kernel (Parts). A code file is what an assembler has
// made of these parts, for some architectures. It is empty where there was no assembler. Else it
// is a Zstandard frame of
//
//	<fingerprint of the PTX> <architecture>…
//	<architecture> <kernel> <bytes>     for each architecture, in the order of the first line,
//	<so many bytes of an ELF file>      and each kernel, in the order of the source
//
// An architecture is a compute capability without its point: 86. A device runs machine code of its
// own, and of a lower one with the same major number. Those that share no instructions come first,
// so that unpacking for one of them ends early; the others differ in few bytes.
//
// CODE-FRESH: code that was made from other PTX than that of the program is never run. The
// generator drops it, a test of the generator compares, and so does Unpack.
package image
