package delta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/lake"
)

// This file reads deletion vectors: the rows of a file that are deleted, as a 64-bit Roaring bitmap
// in its portable form.
//
//	file of vectors, at an offset:  size (big-endian) | vector | CRC-32 (big-endian)
//	vector:                         magic | bitmaps | { high 32 bits | bitmap of the low ones }…
//	bitmap:                         cookie | containers: keys, sizes, offsets | containers, of 2^16 values each
//
// Numbers are little-endian unless said otherwise.
// References: PROTOCOL.md of Delta; github.com/RoaringBitmap/RoaringFormatSpec.

// vector is where the deletion vector of a file is.
type vector struct {
	StorageType    string
	PathOrInlineDv string
	Offset         int64
	SizeInBytes    int64
	Cardinality    int64
}

const (
	vectorMagic = 1681511377
	maxVector   = 1 << 30
	arrayMost   = 4096 // values of a container that is a list
	noRuns      = 12346
	withRuns    = 12347
	offsetsFrom = 4                   // containers with runs that have offsets
	maxTake     = 8 * lake.BlockWords // bytes that are taken at once
)

// deleted reads which rows a vector says are deleted; memory is drawn from a lender.
func (v *vector) deleted(ctx context.Context, store lake.Store, from budget.Lender) (*lake.Rows, error) {
	data, err := v.read(ctx, store)
	if err != nil {
		return nil, err
	}
	rows, err := parseRows(data, from)
	if err != nil {
		return nil, err
	}
	if n := rows.Count(); n != v.Cardinality {
		return nil, fmt.Errorf("damaged: %d rows are deleted, where the log says %d", n, v.Cardinality)
	}
	return rows, nil
}

// uuidText is how many characters of base 85 a UUID takes.
const uuidText = 20

func (v *vector) read(ctx context.Context, store lake.Store) ([]byte, error) {
	if v.SizeInBytes < 0 || v.SizeInBytes > maxVector || v.Offset < 0 {
		return nil, fmt.Errorf("damaged: %d bytes at %d", v.SizeInBytes, v.Offset)
	}
	path := v.PathOrInlineDv
	switch v.StorageType {
	case "i":
		data, err := base85(path)
		if err == nil && int64(len(data)) < v.SizeInBytes {
			err = errors.New("damaged: it is cut off")
		}
		if err != nil {
			return nil, err
		}
		return data[:v.SizeInBytes], nil
	case "u":
		if len(path) < uuidText {
			return nil, fmt.Errorf("damaged: its file is called %q", path)
		}
		id, err := base85(path[len(path)-uuidText:])
		if err != nil {
			return nil, err
		}
		folder := path[:len(path)-uuidText]
		if folder != "" {
			folder += "/"
		}
		path = fmt.Sprintf("%sdeletion_vector_%x-%x-%x-%x-%x.bin", folder, id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	case "p":
	default:
		return nil, fmt.Errorf("storage of type %q is not supported", v.StorageType)
	}
	in, done, err := store.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer done()
	if v.Offset+v.SizeInBytes+8 > in.Size {
		return nil, fmt.Errorf("damaged: %s has %d bytes", path, in.Size)
	}
	data := make([]byte, v.SizeInBytes+8)
	if _, err := in.Reader.ReadAt(data, v.Offset); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	body := data[4 : 4+v.SizeInBytes]
	if int64(binary.BigEndian.Uint32(data)) != v.SizeInBytes || binary.BigEndian.Uint32(data[4+v.SizeInBytes:]) != crc32.ChecksumIEEE(body) {
		return nil, fmt.Errorf("damaged: size or checksum in %s", path)
	}
	return body, nil
}

// z85 are the digits of base 85 as ZeroMQ has them.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

func base85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("damaged: %d characters of base 85", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		n := uint64(0)
		for k := range 5 {
			d := strings.IndexByte(z85, text[i+k])
			if d < 0 {
				return nil, fmt.Errorf("damaged: %q is no digit of base 85", text[i+k])
			}
			n = n*85 + uint64(d)
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return out, nil
}

// bytesLeft reads numbers off data; short once there are too few.
type bytesLeft struct {
	data  []byte
	short bool
}

func (b *bytesLeft) next(n int) []byte {
	if b.short = b.short || n > len(b.data); b.short {
		return make([]byte, min(n, maxTake))
	}
	out := b.data[:n]
	b.data = b.data[n:]
	return out
}

func (b *bytesLeft) u16() int    { return int(binary.LittleEndian.Uint16(b.next(2))) }
func (b *bytesLeft) u32() uint32 { return binary.LittleEndian.Uint32(b.next(4)) }
func (b *bytesLeft) u64() uint64 { return binary.LittleEndian.Uint64(b.next(8)) }

var errRows = errors.New("damaged: no Roaring bitmap")

// parseRows reads a vector; memory is drawn from a lender.
func parseRows(data []byte, from budget.Lender) (*lake.Rows, error) {
	b := bytesLeft{data: data}
	if b.u32() != vectorMagic {
		return nil, errors.New("damaged, or of another format: it begins otherwise")
	}
	r := roaring{rows: &lake.Rows{}, last: -1, from: from}
	for n := b.u64(); n > 0 && !b.short; n-- {
		if err := r.parse(&b, uint64(b.u32())<<16); err != nil {
			return nil, err
		}
	}
	if b.short {
		return nil, errRows
	}
	return r.rows, nil
}

// roaring is a bitmap that is read.
type roaring struct {
	rows *lake.Rows
	last int64 // the key of the container before: keys ascend
	from budget.Lender
}

// parse reads a bitmap of 32-bit numbers; high is the key of its first container.
func (r *roaring) parse(b *bytesLeft, high uint64) error {
	cookie := b.u32()
	n, runs := 0, []byte(nil)
	switch {
	case cookie == noRuns:
		n = int(b.u32())
	case cookie&0xFFFF == withRuns:
		n = int(cookie>>16) + 1
		runs = b.next((n + 7) / 8)
	default:
		return errRows
	}
	if n > 1<<16 {
		return errRows
	}
	heads := b.next(4 * n)
	if runs == nil || n >= offsetsFrom {
		b.next(4 * n)
	}
	for i := 0; i < n && !b.short; i++ {
		key, count := binary.LittleEndian.Uint16(heads[4*i:]), int(binary.LittleEndian.Uint16(heads[4*i+2:]))+1
		whole := high | uint64(key)
		if int64(whole) <= r.last {
			return errRows
		}
		r.last = int64(whole)
		block, err := r.rows.Block(whole, r.from)
		if err != nil {
			return err
		}
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 != 0:
			for k := b.u16(); k > 0 && !b.short; k-- {
				start := b.u16()
				for end := start + b.u16(); start <= end && start < 1<<16; start++ {
					block.Set(uint64(start))
				}
			}
		case count > arrayMost:
			for k := range block {
				block[k] = b.u64()
			}
		default:
			for range count {
				block.Set(uint64(b.u16()))
			}
		}
	}
	return nil
}
