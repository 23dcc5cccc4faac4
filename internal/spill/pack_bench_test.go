package spill

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// rowsOf makes n rows of one of the shapes that spill: the hash, whose top
// bits are those of the partition, keys and states.
func rowsOf(shape string, n int) (block []byte, stride int) {
	r := rand.New(rand.NewPCG(1, 2))
	add := func(words ...uint64) {
		for _, w := range words {
			block = binary.LittleEndian.AppendUint64(block, w)
		}
		stride = len(words)
	}
	text := func(s string) (lo, hi uint64) {
		var b [16]byte
		copy(b[:15], s)
		b[15] = byte(len(s))
		return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	}
	for range n {
		hash := 0x2a5<<54 | r.Uint64()>>10
		switch shape {
		case "mixed": // two ids, a string, an integer, a count, a compensated sum, padding
			lo, hi := text(fmt.Sprintf("id%010d", r.IntN(1e7)))
			ids := uint64(r.IntN(100)) | uint64(r.IntN(100))<<32
			sum := math.Float64bits(r.Float64() * 100)
			add(hash, ids, lo, hi, uint64(r.IntN(1e5)), uint64(1+r.IntN(20)), sum, 0, 0)
		case "q10": // six keys of db-benchmark, sum of cents and count
			lo, hi := text(fmt.Sprintf("id%010d", r.IntN(1e7)))
			ids := uint64(r.IntN(100)) | uint64(r.IntN(100))<<32
			add(hash, ids, lo, hi, uint64(r.IntN(100))|uint64(r.IntN(100))<<32, uint64(r.IntN(1e7)),
				math.Float64bits(math.Round(r.Float64()*1e8)/1e6), 0, 1)
		case "random": // nothing to gain
			add(r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64())
		case "doubles": // sums that fill their words
			add(hash, uint64(r.IntN(1e6)), math.Float64bits(r.NormFloat64()), math.Float64bits(r.NormFloat64()*1e-16), uint64(r.IntN(1000)))
		}
	}
	return block, stride
}

// transpose puts the first words of all rows first, then the second ones.
func transpose(dst, rows []byte, stride int) []byte {
	dst = dst[:0]
	for c := range stride {
		for p := c * 8; p < len(rows); p += stride * 8 {
			dst = append(dst, rows[p:p+8]...)
		}
	}
	return dst
}

type compressor struct {
	name   string
	pack   func(dst, src []byte) []byte
	unpack func(dst, src []byte) []byte
}

func compressors() []compressor {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	dec, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	var lz lz4.Compressor
	var sized int
	return []compressor{
		{"s2", func(d, s []byte) []byte { return s2.Encode(d[:cap(d)], s) }, func(d, s []byte) []byte { d, _ = s2.Decode(d[:cap(d)], s); return d }},
		{"s2better", func(d, s []byte) []byte { return s2.EncodeBetter(d[:cap(d)], s) }, func(d, s []byte) []byte { d, _ = s2.Decode(d[:cap(d)], s); return d }},
		{
			"lz4", func(d, s []byte) []byte { n, _ := lz.CompressBlock(s, d[:cap(d)]); sized = len(s); return d[:n] },
			func(d, s []byte) []byte { n, _ := lz4.UncompressBlock(s, d[:sized]); return d[:n] },
		},
		{"zstd", func(d, s []byte) []byte { return enc.EncodeAll(s, d[:0]) }, func(d, s []byte) []byte { d, _ = dec.DecodeAll(s, d[:0]); return d }},
	}
}

var shapes = []string{"mixed", "q10", "doubles", "random"}

// BenchmarkCompress is the table of docs/experiments/0003.
func BenchmarkCompress(b *testing.B) {
	for _, shape := range shapes {
		for _, size := range []int{64 << 10, 256 << 10} {
			one, _ := rowsOf(shape, 1)
			block, stride := rowsOf(shape, size/len(one))
			buf := make([]byte, 2*size+1024)
			moved := make([]byte, 0, size)
			back := make([]byte, size)
			for _, c := range compressors() {
				name := fmt.Sprintf("rows=%s/block=%dK/codec=%s", shape, size>>10, c.name)
				bench(b, name, block, func() []byte { return c.pack(buf, block) }, func(p []byte) { c.unpack(back, p) })
				bench(b, name+"-transposed", block, func() []byte { moved = transpose(moved, block, stride); return c.pack(buf, moved) },
					func(p []byte) { moved = transpose(moved, c.unpack(back, p), len(block)/8/stride) })
			}
			var f frame
			name := fmt.Sprintf("rows=%s/block=%dK/codec=bits", shape, size>>10)
			bench(b, name, block, func() []byte { p, _ := f.packRows(buf[:0], block, stride, size+1000); return p },
				func(p []byte) { f.unpackRows(back[:len(block)], p, stride) })
			for _, c := range compressors() {
				buf2 := make([]byte, 0, 2*size)
				bench(b, name+"+"+c.name, block, func() []byte {
					p, _ := f.packRows(buf[:0], block, stride, size+1000)
					return c.pack(buf2, p)
				}, func(p []byte) {
					f.unpackRows(back[:len(block)], c.unpack(buf, p), stride)
				})
			}
		}
	}
}

// behind makes the bytes behind rows: byte strings with their length before
// them, padded to words.
func behind(shape string, size int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when your can said there use an each which she do how their if will up other about out many then them these so some her would make like him into time has look two more write go see number no way could people my than first water been call who oil its now find long down day did get come made may part")
	var block []byte
	for len(block) < size {
		var v string
		switch shape {
		case "urls":
			v = fmt.Sprintf("https://www.example.org/%s/%s?id=%d", words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(1e6))
		case "words":
			for len(v) < 200 {
				v += words[r.IntN(len(words))] + " "
			}
		case "hex":
			v = fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
		case "values": // chains of integers
			for range 8 {
				v += string(binary.LittleEndian.AppendUint64(nil, uint64(r.IntN(1e6))))
			}
		}
		block = binary.LittleEndian.AppendUint64(block, uint64(len(v)))
		block = append(append(block, v...), make([]byte, -len(v)&7)...)
	}
	return block[:size]
}

// BenchmarkCompressBehind is the second table of docs/experiments/0003.
func BenchmarkCompressBehind(b *testing.B) {
	for _, shape := range []string{"urls", "words", "hex", "values"} {
		const size = 256 << 10
		block := behind(shape, size)
		buf, back := make([]byte, 2*size), make([]byte, size)
		for _, c := range compressors() {
			bench(b, fmt.Sprintf("bytes=%s/codec=%s", shape, c.name), block, func() []byte { return c.pack(buf, block) }, func(p []byte) { c.unpack(back, p) })
		}
		var f frame
		bench(b, fmt.Sprintf("bytes=%s/codec=bits", shape), block,
			func() []byte { p, _ := f.packRows(buf[:0], block, 1, size+size/8); return p },
			func(p []byte) { f.unpackRows(back, p, 1) })
	}
}

func bench(b *testing.B, name string, block []byte, pack func() []byte, unpack func([]byte)) {
	packed := pack()
	b.Run(name+"/op=pack", func(b *testing.B) {
		b.SetBytes(int64(len(block)))
		b.ReportAllocs()
		for b.Loop() {
			pack()
		}
		b.ReportMetric(float64(len(block))/float64(len(packed)), "ratio")
	})
	packed = append([]byte(nil), pack()...)
	packed = append(packed, make([]byte, slack)...)[:len(packed)]
	b.Run(name+"/op=unpack", func(b *testing.B) {
		b.SetBytes(int64(len(block)))
		b.ReportAllocs()
		for b.Loop() {
			unpack(packed)
		}
	})
}
