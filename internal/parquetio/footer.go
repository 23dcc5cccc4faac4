package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Limits bounds what a file may ask for. A zero field means its default.
type Limits struct {
	// bytes of one decompressed page or dictionary; default 256 MiB, with Budget what it grants
	MaxPage   int64
	MaxFooter int64 // bytes of the footer; default 256 MiB
	MaxDepth  int   // levels of nesting in the schema; default 64

	// Budget is what memory is drawn from; nil: there is no limit. Where it
	// refuses to give more reading fails with its error, wrapped in an *Error.
	Budget budget.Lender
}

func (l Limits) withDefaults() Limits {
	if l.MaxPage <= 0 {
		l.MaxPage = 256 << 20
		if l.Budget != nil {
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
	meta   *format.FileMetaData // without row groups
	chunks chunkTable
	end    int64 // where the footer begins: chunks end before it
	used   int64 // where the last chunk or index that the footer names ends

	metadata account // for the footer and what is made of it
}

// groupBytes is the memory of a row group in the lists of its file and of a
// scan.
const groupBytes = int64(unsafe.Sizeof(rowGroup{}) + unsafe.Sizeof(Unit{}) + 16)

// rowGroup is the place of a row group in the file.
type rowGroup struct {
	rows     int64
	first    int64 // number of its first row in the file
	disagree bool  // a chunk says that it has another number of values
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
	defer invariant.Fence(&err, damagedIn(name))
	f := &file{name: name, r: r, size: size, limits: lim.withDefaults(), metadata: account{from: lim.Budget}}
	// After a panic too, whose fence is outside.
	opened := false
	defer func() {
		if !opened {
			f.metadata.close()
		}
	}()
	if err := f.open(); err != nil {
		if placed := (*Error)(nil); errors.As(err, &placed) {
			return nil, err
		}
		return nil, &Error{File: name, RowGroup: -1, Err: err}
	}
	opened = true
	return f, nil
}

// open reads, decodes and checks the footer.
func (f *file) open() error {
	footer, err := f.readFooter()
	if err != nil {
		return err
	}
	usual, err := f.decodeQuickly(footer)
	if !usual {
		err = f.decodeWhole(footer)
	}
	if err != nil {
		return err
	}
	return f.checkAlone()
}

// decodeWhole has the library decode the footer, and checks it.
func (f *file) decodeWhole(footer []byte) (err error) {
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
	if err := f.metadata.draw(int64(len(f.meta.RowGroups))*groupBytes, "a list of row groups"); err != nil {
		return err
	}
	f.chunks.whole, f.meta.RowGroups = f.meta.RowGroups, nil
	return f.validateGroups()
}

// readFooter checks both magics and returns the bytes of the footer.
func (f *file) readFooter() ([]byte, error) {
	if f.size < int64(len(magic)+trailerSize) {
		return nil, fmt.Errorf("not a Parquet file: only %d bytes", f.size)
	}
	var head [len(magic)]byte
	switch err := f.readHint(head[:], 0); {
	case errors.Is(err, errFar): // the end will do
	case err != nil:
		return nil, err
	case string(head[:]) == magicEncrypted:
		return nil, errEncrypted
	case string(head[:]) != magic:
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
	if err := unmarshal(walk.withValues(), meta); err != nil {
		return nil, fmt.Errorf("damaged footer: %w", err)
	}
	return meta, nil
}

// unmarshal has the library decode a struct, which then refers to data.
func unmarshal(data []byte, to any) error {
	var protocol thrift.CompactProtocol
	return thrift.NewDecoder(protocol.NewReaderFromBytes(data)).Decode(to)
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
