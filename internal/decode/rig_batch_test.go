package decode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/gagg-dev/gagg/internal/kernels"
)

// room leaves bytes unused and aligns; what lies there means nothing.
func (g *rig) room(n, alignment int) {
	for range n {
		g.memory = append(g.memory, byte(g.draws.Uint32()))
	}
	for len(g.memory)%alignment != 0 {
		g.memory = append(g.memory, 0)
	}
}

// page adds a page, somewhere, of the next rows of a source, and its tasks. It
// is compressed as its Codec says.
func (g *rig) page(page kernels.ParquetPage, levels, values []byte, tasks ...kernels.ParquetTask) {
	g.room(g.draws.IntN(20), 1)
	page.At, page.Size = uint64(len(g.memory)), uint32(len(levels)+len(values))
	switch {
	case page.Codec == kernels.ParquetCodecNone:
	case page.Levels == kernels.ParquetSizedLevels:
		levels, values = nil, zipped(page.Codec, slices.Concat(levels, values))
	default:
		values = zipped(page.Codec, values)
	}
	page.Bytes = uint32(len(levels) + len(values))
	g.batch.makeRoom(&page)
	g.memory = append(append(g.memory, levels...), values...)
	for _, t := range tasks {
		t.Page = uint32(len(g.batch.pages))
		g.batch.tasks = append(g.batch.tasks, t)
	}
	g.batch.pages = append(g.batch.pages, page)
}

// zipped is bytes compressed by a codec.
func zipped(codec uint8, b []byte) []byte {
	if codec == kernels.ParquetCodecSnappy {
		return snappy.Encode(nil, b)
	}
	return zstdEncoder.EncodeAll(b, nil)
}

// unzipped is what the CPU makes of them.
func unzipped(codec uint8, b []byte) ([]byte, error) {
	if codec == kernels.ParquetCodecSnappy {
		return snappy.Decode(nil, b)
	}
	return zstdDecoder.DecodeAll(b, nil)
}

var (
	zstdEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	zstdDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
)

// unit adds the rows from ... to of the columns as a unit, in pages as drawn.
func (g *rig) unit(from, to int) {
	for i, s := range g.sources() {
		dict := dictionary(&s, from, to)
		task := g.entries(&s, i, dict)
		for at := from; at < to || at == from; {
			rows := min(1+g.draws.IntN(1<<g.draws.IntN(14)), to-at)
			page := kernels.ParquetPage{First: uint32(g.batch.rows + at - from), Rows: uint32(rows), Codec: uint8(g.draws.IntN(kernels.ParquetCodecZstd + 1))}
			form := g.draws.IntN(levelForms)
			if slices.Contains(s.isNull(at, at+rows), true) {
				form = 1 + g.draws.IntN(levelForms-1)
			}
			var head []byte
			head, page.Levels = drawLevels(g.draws, form, s.isNull(at, at+rows))
			values, codes := s.values(at, at+rows, dict)
			if g.draws.IntN(2) == 0 {
				page.Coded = 1
				if s.output.Physical == kernels.ParquetBool && g.draws.IntN(2) == 0 {
					page.Encoding = kernels.ParquetTruths
				}
				values = drawCoded(g.draws, page.Encoding, codes, len(dict.rows))
			} else if g.plan.Outputs[i].AnyLength() {
				page.Texts = 1
			} else {
				page.Encoding = s.drawEncoding(g.draws)
				values = s.encode(g.draws, page.Encoding, values)
			}
			if form == v2Levels && len(values) == 0 {
				page.Codec = kernels.ParquetCodecNone
			}
			g.page(page, head, values, task)
			at += max(rows, 1)
		}
		g.room(kernels.ParquetPadding, kernels.ParquetPadding)
	}
	g.batch.rows += to - from
}

// units adds the rows of the columns as units, of sizes as drawn.
func (g *rig) units(r *rand.Rand, rows int) {
	for from := 0; from < rows; {
		to := min(from+1+r.IntN(rows), rows)
		g.unit(from, to)
		from = to
	}
}

// entries writes a dictionary's words for the output of a source: those that the
// rows of its entries have.
func (g *rig) entries(s *source, output int, d dict) kernels.ParquetTask {
	g.room(0, 8)
	if g.plan.Outputs[output].AnyLength() {
		return g.dictPage(s, output, d)
	}
	task := kernels.ParquetTask{Entries: uint64(len(g.memory)), Output: uint32(output), Count: uint32(len(d.rows))}
	var arrays [][]uint64
	if o := &g.plan.Outputs[output]; o.Field >= 0 {
		entries := gather(&s.vector, d.rows)
		words, hash, _ := g.encoder.TranslateDict(o.Field, &entries)
		arrays = append(slices.Clone(words), hash)
	} else {
		arrays = make([][]uint64, 1)
		for _, r := range d.rows {
			if s.vector.Type.IsFloat() {
				arrays[0] = append(arrays[0], math.Float64bits(s.vector.Float[r]))
			} else {
				arrays[0] = append(arrays[0], uint64(s.vector.Int[r]))
			}
		}
	}
	for _, words := range arrays {
		for _, w := range words {
			g.memory = binary.LittleEndian.AppendUint64(g.memory, w)
		}
	}
	return task
}

// dictPage adds the dictionary page of a column of strings, of which the device makes the words.
func (g *rig) dictPage(s *source, output int, d dict) kernels.ParquetTask {
	var plain []byte
	for _, r := range d.rows {
		plain = append(plain, s.plain(r)...)
	}
	page := uint32(len(g.batch.pages))
	g.page(kernels.ParquetPage{Rows: uint32(len(d.rows)), Texts: 1, Codec: uint8(g.draws.IntN(kernels.ParquetCodecZstd + 1))}, nil, plain)
	dict := kernels.ParquetDict{Words: uint64(g.batch.expanded), Page: page, Output: uint32(output)}
	g.batch.dicts = append(g.batch.dicts, dict)
	g.batch.expanded += entriesRoom(&g.plan.Outputs[output], len(d.rows))
	return kernels.ParquetTask{Entries: kernels.ParquetInWork | dict.Words, Output: dict.Output, Count: uint32(len(d.rows))}
}

// finish is the batch and its memory. It may be called again, with other
// bytes in the pages.
func (g *rig) finish() (*Batch, []byte) {
	memory := slices.Clone(g.memory)
	for len(memory)%kernels.ParquetPadding != 0 {
		memory = append(memory, 0)
	}
	p := g.batch
	p.data = len(memory)
	memory = append(memory, make([]byte, p.Size()-p.data)...)
	p.describe(memory)
	return &p, memory
}
