package parquetio

import "encoding/binary"

// This file decodes Snappy's block format: an unsigned varint, the size of the whole, then
// elements.
//
//	low bits of the tag  rest of the tag    then           stands for
//	0                    length-1, 60..63   0 to 4 bytes   a literal: the bytes that follow
//	1                    offset>>8, length-4  1 byte       a copy of what lies offset bytes before
//	2, 3                 length-1           2, 4 bytes     the same
//
// snappyRun decodes nearly all of a block, after Google's DecompressBranchless (snappy.cc). It
// reads what an element is from tables, without a branch that depends on it, and copies its
// bytes, at most 64, by 32 or 64 while it takes the next element apart. It leaves to nextElement
// what is rare: the last 160 bytes, literals of more than 60 bytes, damage.

// snappyRun decodes elements with snappyTable from src[ip:] to dst[op:] and returns op and ip
// behind the last of them. dst[:op] was decoded before. It may write anywhere up to the end of
// dst, also behind the op that it returns.
//
//go:noescape
func snappyRun(table *snappyTags, dst, src []byte, op, ip int) (nextOp, nextIP int)

// snappyTags is the table by which snappyRun decodes a tag. An entry is the length minus the part
// of the offset that is in the tag. A literal's is less by 256 again, so that the low byte is the
// length. snappyOther is a literal of more than 60 bytes. Behind the tags, by the low bits of the
// tag, are masks: the bits of the next four bytes that are offset.
type snappyTags [256 + 2*4]uint16

var snappyTable = makeSnappyTable()

const snappyOther = 0xff

func makeSnappyTable() (t snappyTags) {
	for tag := range 256 {
		entry := 0
		switch n := tag >> 2; {
		case tag&3 == 1:
			entry = n&7 + 4 - tag>>5<<8
		case tag&3 != 0:
			entry = n + 1
		case n < 60:
			entry = n + 1 - 256
		default:
			entry = snappyOther
		}
		t[tag] = uint16(entry)
	}
	copy(t[256:], []uint16{0, 0, 0xff, 0, 0xffff, 0, 0xffff, 0xffff})
	return t
}

// decodeSnappy fills dst with exactly what src gives.
func decodeSnappy(dst, src []byte) error {
	size, ip := binary.Uvarint(src)
	if ip <= 0 || size != uint64(len(dst)) {
		return errSnappy
	}
	for op := 0; ; {
		op, ip = snappyRun(&snappyTable, dst, src, op, ip)
		if ip == len(src) {
			if op < len(dst) {
				return errSnappy
			}
			return nil
		}
		var ok bool
		if op, ip, ok = nextElement(dst, src, op, ip); !ok {
			return errSnappy
		}
	}
}

// snappyResumes tells that there is snappySome.
const snappyResumes = true

// snappySome is decodeSnappy for a part: it goes on at src[ip:] and dst[op:] until op is upTo or
// more, at most len(dst).
func snappySome(dst, src []byte, op, ip, upTo int) (nextOp, nextIP int, err error) {
	const beyond = 512 // snappyRun stops up to 160 bytes before the end
	for op < upTo {
		op, ip = snappyRun(&snappyTable, dst[:min(upTo+beyond, len(dst))], src, op, ip)
		if op >= upTo {
			break
		}
		ok := ip < len(src)
		if ok {
			op, ip, ok = nextElement(dst, src, op, ip)
		}
		if !ok {
			return op, ip, errSnappy
		}
	}
	return op, ip, nil
}

// nextElement decodes the element at src[ip], and checks it.
func nextElement(dst, src []byte, op, ip int) (nextOp, nextIP int, ok bool) {
	tag := src[ip]
	ip++
	if tag&3 == 0 {
		n := int(tag >> 2)
		if extra := n - 59; extra > 0 {
			if n, ok = littleEndian(src[ip:], extra); !ok {
				return 0, 0, false
			}
			ip += extra
		}
		if n++; n > len(src)-ip || n > len(dst)-op {
			return 0, 0, false
		}
		copy(dst[op:op+n], src[ip:])
		return op + n, ip + n, true
	}
	n, extra := int(tag>>2)+1, 1<<(tag&3-1)
	offset, ok := littleEndian(src[ip:], extra)
	if extra == 1 {
		n, offset = int(tag>>2&7)+4, offset+int(tag>>5)<<8
	}
	if !ok || offset == 0 || offset > op || n > len(dst)-op {
		return 0, 0, false
	}
	for end := op + n; op < end; {
		op += copy(dst[op:end], dst[op-offset:op])
	}
	return op, ip + extra, true
}

// littleEndian reads a number of n bytes, which may be missing.
func littleEndian(b []byte, n int) (x int, ok bool) {
	if n > len(b) {
		return 0, false
	}
	for i := range n {
		x |= int(b[i]) << (8 * i)
	}
	return x, true
}
