package parquetio

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Limits bounds what a file may ask for. A zero field means its default.
type Limits struct {
	MaxPage   int64 // bytes of one decompressed page or dictionary; default 256 MiB, with Grow what it grants
	MaxFooter int64 // bytes of the footer; default 256 MiB
	MaxDepth  int   // levels of nesting in the schema; default 64

	// Grow is the memory budget; nil: none. It is told of memory before it is
	// allocated, and of memory that is let go as a negative number. It may
	// refuse to give more: then reading fails with its error, wrapped in an
	// *Error. It is called from several goroutines.
	Grow func(bytes int64) error
}

func (l Limits) withDefaults() Limits {
	if l.MaxPage <= 0 {
		l.MaxPage = 256 << 20
		if l.Grow != nil {
			l.MaxPage = math.MaxInt32 // the most that a page header can say
		}
	}
	if l.MaxFooter <= 0 {
		l.MaxFooter = 256 << 20
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = 64
	}
	return l
}

// file is an open Parquet file whose footer has passed validation. It is
// immutable, and so safe for many column readers at once.
type file struct {
	name   string
	r      io.ReaderAt
	size   int64
	limits Limits
	rows   int64
	leaves []leaf
	groups []rowGroup
	meta   *format.FileMetaData
	end    int64 // where the footer begins: chunks end before it

	metadata account // for the footer and what is made of it
}

// groupBytes is what a row group takes in the lists of its file and of a
// scan.
const groupBytes = int64(unsafe.Sizeof(rowGroup{}) + unsafe.Sizeof(Unit{}) + 16)

// rowGroup is the place of a row group in the file.
type rowGroup struct {
	rows  int64
	first int64 // number of its first row in the file
}

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	trailerSize    = 8 // footer length and magic
)

var errEncrypted = errors.New("encrypted; not supported")

// openFile reads and validates the footer of the file in r, and nothing
// else. The caller keeps r open as long as the file is used. Errors are
// *Error.
func openFile(name string, r io.ReaderAt, size int64, lim Limits) (_ *file, err error) {
	defer fence(name, &err)
	f := &file{name: name, r: r, size: size, limits: lim.withDefaults(), metadata: account{grow: lim.Grow}}
	// After a panic too, whose fence is outside.
	opened := false
	defer func() {
		if !opened {
			f.metadata.close()
		}
	}()
	if err := f.open(); err != nil {
		return nil, &Error{File: name, RowGroup: -1, Err: err}
	}
	if err := f.validateGroups(); err != nil {
		return nil, err
	}
	opened = true
	return f, nil
}

// open reads and decodes the footer and the schema in it.
func (f *file) open() error {
	footer, err := f.readFooter()
	if err != nil {
		return err
	}
	if f.meta, err = f.decodeFooter(footer); err != nil {
		return err
	}
	if f.meta.EncryptionAlgorithm.Value != nil {
		return errEncrypted
	}
	// The next two are no larger than what the footer's lists were drawn for,
	// but for names and paths, which are bounded by the footer's size too.
	if f.leaves, err = schemaLeaves(f.meta.Schema, f.limits.MaxDepth, len(footer)); err != nil {
		return err
	}
	if err := f.metadata.draw(sizeOfLeaves(f.leaves), "a schema"); err != nil {
		return err
	}
	return f.metadata.draw(int64(len(f.meta.RowGroups))*groupBytes, "a list of row groups")
}

// readFooter checks both magics and returns the bytes of the footer.
func (f *file) readFooter() ([]byte, error) {
	if f.size < int64(len(magic)+trailerSize) {
		return nil, fmt.Errorf("not a Parquet file: only %d bytes", f.size)
	}
	var head [len(magic)]byte
	if err := readAt(f.r, head[:], 0); err != nil {
		return nil, err
	}
	switch string(head[:]) {
	case magic:
	case magicEncrypted:
		return nil, errEncrypted
	default:
		return nil, fmt.Errorf("not a Parquet file: begins with %q", head[:])
	}
	var trailer [trailerSize]byte
	if err := readAt(f.r, trailer[:], f.size-trailerSize); err != nil {
		return nil, err
	}
	switch tail := string(trailer[4:]); tail {
	case magic:
	case magicEncrypted:
		return nil, errEncrypted
	default:
		return nil, fmt.Errorf("not a complete Parquet file: ends with %q", tail)
	}
	length := int64(binary.LittleEndian.Uint32(trailer[:]))
	if max := f.size - trailerSize - int64(len(magic)); length == 0 || length > max {
		return nil, fmt.Errorf("damaged: footer of %d bytes in a file of %d", length, f.size)
	}
	if length > f.limits.MaxFooter {
		return nil, fmt.Errorf("footer of %d bytes; the limit is %d", length, f.limits.MaxFooter)
	}
	f.end = f.size - trailerSize - length
	if err := f.metadata.draw(length, "a footer"); err != nil {
		return nil, err
	}
	footer := make([]byte, length)
	return footer, readAt(f.r, footer, f.end)
}

// decodeFooter decodes the Thrift of the footer. The result refers to data.
func (f *file) decodeFooter(data []byte) (*format.FileMetaData, error) {
	walk := thriftWalk{data: data}
	if err := walk.footer(); err != nil {
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	if err := f.metadata.draw(walk.cost, "the decoded form of a footer"); err != nil {
		return nil, err
	}
	meta := new(format.FileMetaData)
	if groups := walk.rowGroups; len(groups) > 2 && len(walk.bare) == 0 {
		return meta, f.decodeGroups(data, groups, meta)
	}
	return meta, unmarshal(walk.withValues(), meta)
}

// unmarshal decodes a struct of the footer.
func unmarshal(data []byte, to any) error {
	var protocol thrift.CompactProtocol
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(data)).Decode(to); err != nil {
		return fmt.Errorf("damaged footer: %w", err)
	}
	return nil
}

// leastGroups is how many bytes of row groups a core has at least where a footer is decoded on several cores: they take 20 to 40 µs.
const leastGroups = 16 << 10

// decodeGroups decodes a footer whose list of row groups lies at places (thriftWalk.rowGroups): these on all cores, and the rest with an
// empty list in its stead.
func (f *file) decodeGroups(data []byte, places []int, meta *format.FileMetaData) error {
	first, last := places[0], places[len(places)-1]
	rest := append(append(slices.Clone(data[:first]), thriftStruct), data[last:]...)
	if err := unmarshal(rest, meta); err != nil {
		return err
	}
	starts := places[1:]
	meta.RowGroups = make([]format.RowGroup, len(starts)-1)
	decode := func(from, to int) (err error) {
		defer fence(f.name, &err)
		var quick groupDecoder
		for i := from; i < to; i++ {
			one, g := data[starts[i]:starts[i+1]], &meta.RowGroups[i]
			quick.left = to - i
			if quick.decode(one, g) {
				continue
			}
			*g = format.RowGroup{}
			if err := unmarshal(one, g); err != nil {
				return fmt.Errorf("row group %d: %w", i, err)
			}
		}
		return nil
	}
	parts := min(runtime.GOMAXPROCS(0), len(meta.RowGroups), (last-first)/leastGroups)
	if parts <= 1 {
		return decode(0, len(meta.RowGroups))
	}
	errs := make([]error, parts)
	var done sync.WaitGroup
	for p := range parts {
		done.Go(func() { errs[p] = decode(p*len(meta.RowGroups)/parts, (p+1)*len(meta.RowGroups)/parts) })
	}
	done.Wait()
	return cmp.Or(errs...)
}

// readAt fills b from offset off.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("file ends at byte %d, inside data it should hold (was it changed?): %w", off+int64(n), io.ErrUnexpectedEOF)
	}
	return err
}
