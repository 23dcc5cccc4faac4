package decode

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Store is the strings that the rows of a device refer to, in its memory, each once
// (parquet_texts.cuh says how). Jobs of any stream add to it. Its memory is that of a chunk of
// package arena: once a copy of it is the chunk of Base in a run's registry, the refs of rows are
// valid there (STORE-COPIED in package gpu).
type Store struct {
	Base uint64 // of refs

	pieces             cuda.Pieces
	slots, arena, used cuda.Span
}

// StoreSize is how much a store holds.
type StoreSize struct {
	Bytes int64 // of strings and what is beside them, as arena.Size counts them
	Texts int64 // about how many strings there may be
	Short bool  // there are strings of any length; else of maxInline+1 bytes or more
}

const (
	// mostStoreWords: kernels count words of 8 bytes in 32 bits.
	mostStoreWords = 1<<32 - 2
	// storeLoad is how full the table may get: three quarters need 8 looks on average, and hardly
	// ever the 256 after which kernels give up.
	storeLoad = 0.75
	// leastStoreSlots is 32 KiB of slots.
	leastStoreSlots = 1 << 12
)

// words is the words of the arena.
func (s StoreSize) words() int64 {
	return min(max(s.Bytes+arena.Padding, 64)/8, mostStoreWords)
}

// slots is the slots of the table: no more than are needed if all strings are of the shortest that
// it has. Of a single byte or of none there are few.
func (s StoreSize) slots() int64 {
	least := maxInline + 1
	if s.Short {
		least = 2
	}
	texts := min(float64(s.Texts), float64(8*s.words())/float64(arena.Size(least)))
	return 1 << bits.Len64(uint64(max(texts/storeLoad, leastStoreSlots)-1))
}

// Memory is the device memory that a store of a size takes.
func (s StoreSize) Memory() cuda.Size {
	return cuda.Allocated(cuda.Size(8*s.words()), cuda.Size(8*s.slots()), 16)
}

// NewStore makes an empty store. It waits for work of the thread's context.
func NewStore(t *cuda.Thread, size StoreSize, base uint64) (*Store, error) {
	s := &Store{Base: base, pieces: cuda.Pieces{Thread: t}}
	err := s.pieces.AllocAll(
		cuda.Piece{To: &s.arena, Bytes: cuda.Size(8 * size.words())},
		cuda.Piece{To: &s.slots, Bytes: cuda.Size(8 * size.slots())},
		cuda.Piece{To: &s.used, Bytes: 16},
	)
	if err == nil {
		err = t.OnStream(func(stream *cuda.Stream) error {
			return errors.Join(stream.Fill(s.slots, 0), stream.Fill(s.used, 0))
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close frees the memory, on whatever thread NewStore was given.
func (s *Store) Close() error { return s.pieces.Close() }

// Len is how many strings there are, and how many bytes of a chunk they take. No job may be under
// way.
func (s *Store) Len(t *cuda.Thread) (texts int64, bytes int, err error) {
	words, err := t.ReadWords(s.used, 2)
	if err != nil {
		return 0, 0, err
	}
	// of a string for which there was no room the words are counted too
	return int64(words[1]), int(min(8*words[0], uint64(s.arena.Size))), nil
}

// Read copies what begins at byte `from` of the chunk to dst.
func (s *Store) Read(t *cuda.Thread, dst []byte, from int) error {
	return t.Read(dst, s.arena.Slice(cuda.Size(from), cuda.Size(from+len(dst))))
}

// Begin is how many bytes the string has that begins at byte `at` of the chunk, and the first of
// these: at most as many as are said.
func (s *Store) Begin(t *cuda.Thread, at, most int) (bytes int, begin []byte, err error) {
	head := make([]byte, min(arena.Header+most, int(s.arena.Size)-at+arena.Header))
	if err := s.Read(t, head, at-arena.Header); err != nil {
		return 0, nil, err
	}
	bytes = int(binary.LittleEndian.Uint32(head))
	begin = head[arena.Header:]
	return bytes, begin[:min(bytes, len(begin))], nil
}

// descriptor is the store as kernels are told.
func (s *Store) descriptor() (d kernels.ParquetTextStore) {
	if s == nil {
		return d
	}
	return kernels.ParquetTextStore{
		Slots: s.slots.Ptr, Arena: s.arena.Ptr, Used: s.used.Ptr,
		Mask: uint64(s.slots.Size/8) - 1, Words: uint64(s.arena.Size / 8), Base: s.Base,
	}
}

// Memory is where the bytes begin on the device that a copy is made of.
func (s *Store) Memory() cuda.Ptr { return s.arena.Ptr }
