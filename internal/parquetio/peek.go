package parquetio

import (
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// A page header is read by peekBytes at first. Headers of dictionary pages have about 20 bytes,
// those of data pages more if they hold statistics, and with long texts up to mostPeek.
const (
	peekBytes = 1 << 10
	mostPeek  = 64 << 10
)

// chunkPeek is the content of the headers of a chunk's first pages.
type chunkPeek struct {
	entries   int   // of the dictionary; 0: there is none
	dictBytes int64 // of the dictionary page, decompressed
	page      int64 // of the first data page, decompressed; -1: not known
	packed    int64 // of the same, compressed
}

// peek reads the headers of the dictionary page, if there is one, and of the
// first data page of a chunk.
func (f *file) peek(group, leaf int) (p chunkPeek, err error) {
	defer invariant.Fence(&err, damagedIn(f.name))
	m := &f.chunk(group, leaf).MetaData
	start, size, err := f.chunkRange(m)
	if err != nil {
		return p, err
	}
	header, n, err := f.peekHeader(start, size)
	if err != nil {
		return p, err
	}
	l, codec := &f.leaves[leaf], m.Codec
	if err := l.checkPage(codec, &header); err != nil {
		return p, err
	}
	if header.Type == format.DictionaryPage {
		p.entries, p.dictBytes = int(header.DictionaryPageHeader.V.NumValues), int64(header.UncompressedPageSize)
		n += int64(header.CompressedPageSize)
		if n < 0 || n >= size {
			p.page = -1
			return p, nil
		}
		header, _, err = f.peekHeader(start+n, size-n)
		if err == nil {
			err = l.checkPage(codec, &header)
		}
	}
	p.page, p.packed = int64(header.UncompressedPageSize), int64(header.CompressedPageSize)
	if err != nil || p.page < 0 || p.packed < 0 { // reading the page will tell what is wrong
		p.page, p.packed = -1, 0
	}
	return p, nil
}

// checkPage tells, before anything is asked for because of it, that a page
// cannot hold what its header says.
func (l *leaf) checkPage(codec format.CompressionCodec, h *format.PageHeader) error {
	size := h.UncompressedPageSize
	if err := checkRatio(codec, int64(h.CompressedPageSize), int64(size)); err != nil {
		return err
	}
	if h.Type == format.DictionaryPage {
		return l.checkEntries(int64(h.DictionaryPageHeader.V.NumValues), int(size))
	}
	return nil
}

// peekHeader reads a page header, which has n bytes.
func (f *file) peekHeader(at, left int64) (header format.PageHeader, n int64, err error) {
	for size := int64(peekBytes); ; size *= 8 {
		buf := make([]byte, min(left, size))
		if err := f.readHint(buf, at); err != nil {
			return header, 0, err
		}
		walk := thriftWalk{data: buf}
		if err := walk.structure(0, 0); err == nil {
			header, err = decodeHeader(buf[:walk.pos])
			return header, int64(walk.pos), err
		} else if size >= min(left, mostPeek) {
			return header, 0, err
		}
	}
}
