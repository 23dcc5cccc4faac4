// Package spill keeps blocks of bytes in files on disk while a run needs
// them: the private directory, the files, checksums, compression, the limit,
// and the removal of everything at the end. What is in the blocks, and when
// they are written, is for others to know.
//
// # Terms
//
// A space is the disk space of one run. It has a private directory
// "gagg-<128 random bits>" in the folder that the user chose, and files in
// it. A file consists of blocks, one behind the other. A block is rows of
// 64-bit words, all of the same number of words (the stride), and any bytes
// behind them, the tail; either may be missing. Its extent says where it is; whoever
// appended the block keeps the extent, since nothing on disk lists blocks.
//
//	/tmp
//	└── gagg-1f0c…/          0700
//	    ├── lock             0600, its flock held while the process lives
//	    └── (1.spill …)      0600, removed as soon as they are open
//
// # A block on disk
//
//	 0  magic              u32
//	 4  codec of the rows  u8    codec of the tail  u8    stride  u16
//	 8  checksum           u64
//	16  offset in the file u64
//	24  number in the file u32   number of the file u32
//	32  bytes of the block u32   bytes stored       u32   with the header
//	40  rows               u32   bytes of the rows  u32   in the payload
//	48  payload: the rows, then the tail
//
// A block of more than half a megabyte has parts, each with such a header and a
// magic of its own, side by side: parts.go.
//
// All integers are little-endian. The checksum is xxh3 of the header with the
// xxh3 of the payload in the checksum's place, seeded with a random number of
// the space. A block that is moved within the file, or comes from another
// file or another run, has an offset, a number or a seed that does not match.
//
// # Codecs
//
// Rows of one partition differ in few of their bits: the top bits of the hash
// are the same, numbers are small, text has four constant bits in a digit,
// compensation and padding are zero. A frame is up to 512 rows that are
// packed together: for each column the bits in which any two rows differ (its
// mask), moved together, and once the bits that are the same (its base):
//
//	frame   base, mask u64 of column 0 │ of column 1 │ … │ row 0 │ row 1 │ …
//	row     lane │ lane │ …            whole bytes; the lanes are bits
//	lane    the bits within the mask   64 bits if there are more than 57
//
// A lane begins at the same bit of each row, so that 8 bytes loaded at one
// place hold it. pack.go has the loops. For example the words 0x5000_0017,
// 0x5000_0013 and 0x5000_0015 have the base 0x5000_0011, the mask 0x6 and the
// lanes 11, 01 and 10.
//
// Bytes behind the rows are packed as rows of one word if that halves them
// (values of holistic aggregates), else compressed with s2 (strings). Coding
// that does not pay is not kept, and s2 is then left alone for some blocks.
// The figures are in docs/experiments/0003.
//
// # Invariants
//
// VERIFIED: Read returns what was given to Append, or an error. A block that
// does not verify is never read again.
//
// SHRINKS: a coded part is smaller than it was, so a payload as long as the
// block is the block itself, and is read without a copy.
//
// LIMIT: Used is at least the bytes of all blocks on disk that are not freed,
// and at most the limit. A block is drawn from a budget of the disk before it is
// written.
//
// LOCKED: nobody removes anything in a private directory but who holds the
// lock of the file that the directory names "lock". Its owner holds it from
// before the first file is made until the directory is gone, and the system
// gives it back when the process dies, however it dies.
//
// # The life of a space
//
// Open creates nothing. The first File, or Probe, sweeps the folder, makes
// the private directory and locks it. Close closes the files and removes the
// directory, files not closed before included. What a process that was killed
// leaves behind is an empty directory with a lock file, and at most one file
// that it had created and not yet removed; their bytes on disk are gone with
// the process. The next sweep removes them.
//
// A sweep looks at directories of the same user whose names are like ours. It
// takes the lock of each, or gives way. A directory that was made a moment
// ago is not locked yet, and looks like that of a dead process; the sweep may
// take it. So the owner looks, with the lock taken, whether the locked file
// is still the one in its directory, and if not it begins again with another
// name (claim, tryPrivate). A sweep looks likewise before it removes
// anything. A directory without a lock file gets one from the sweep, which
// the owner's exclusive creation then runs into.
//
// Where a file system knows no locks nobody can take one, so nothing is swept
// there; nor is it on systems without flock. Nothing is synced: after a power
// failure nobody wants these files.
//
// # Traps
//
// Free must be called once for an extent, and not while it is read. A file is
// appended to by one goroutine; everything else may overlap.
package spill
