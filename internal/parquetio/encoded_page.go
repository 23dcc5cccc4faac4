package parquetio

import "github.com/parquet-go/parquet-go/format"

// put has a page of a codec in its place: it lies there, or is copied or
// decompressed to there.
func (c *columnReader) put(p *EncodedPage, id format.CompressionCodec, body []byte, place *encodedPlace) error {
	if !c.moves {
		p.At = place.at - int(c.in.rest()) - len(body)
		return nil
	}
	if p.Size > len(place.memory)-place.at {
		return errNotEncoded // the footer promised less
	}
	if p.crossesPacked(id, len(body)) {
		p.At = place.at
		place.at += copy(place.memory[place.at:], body)
		return nil
	}
	p.Codec = PageUncompressed
	page := place.memory[place.at:][:p.Size:p.Size]
	p.At, p.Bytes = place.at, p.Size
	place.at += p.Size
	levels := copy(page, body[:max(p.Levels, 0)])
	if id == format.Uncompressed {
		copy(page[levels:], body[levels:])
		return nil
	}
	return c.shared.codec.decompress(id, page[levels:], body[levels:])
}

// encodedPage describes a page, as loadPage would load it, and tells its codec.
func (c *columnReader) encodedPage(body []byte) (p EncodedPage, id format.CompressionCodec, err error) {
	h := &c.header
	p, id = EncodedPage{Bytes: len(body), Size: int(h.UncompressedPageSize)}, c.id
	enc := format.Plain
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		enc = h.DataPageHeader.V.Encoding
		err = c.encodedV1(&p, &h.DataPageHeader.V, body)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v2 := &h.DataPageHeaderV2.V
		if v2.IsCompressed.Valid && !v2.IsCompressed.V || p.Size == int(v2.DefinitionLevelsByteLength) {
			id = format.Uncompressed // an empty value part is never compressed
		}
		enc = v2.Encoding
		err = c.encodedV2(&p, v2, id, body)
	case h.Type == format.IndexPage:
	default:
		return p, id, errNotEncoded
	}
	known := false
	p.Encoding, p.Coded, known = encodedAs(c.leaf.physical, enc)
	p.Codec = pageCodecs[id] // others are decompressed on the way
	if err == nil && !known {
		err = errNotEncoded
	}
	return p, id, err
}

func (c *columnReader) encodedV1(p *EncodedPage, h *format.DataPageHeader, body []byte) (err error) {
	if p.Rows, err = c.pageRows(h.NumValues); err != nil || p.Rows == 0 {
		return err
	}
	if c.leaf.maxDef > 0 {
		p.Levels = SizedLevels
		if h.DefinitionLevelEncoding != format.RLE {
			return errNotEncoded
		}
	}
	return checkSize(c.id, body, p.Size)
}

func (c *columnReader) encodedV2(p *EncodedPage, h *format.DataPageHeaderV2, id format.CompressionCodec, body []byte) (err error) {
	if p.Rows, err = c.pageRows(h.NumValues); err != nil || p.Rows == 0 {
		return err
	}
	def := int(h.DefinitionLevelsByteLength)
	if h.RepetitionLevelsByteLength != 0 || def < 0 || def > min(p.Bytes, p.Size) || (def > 0) != (c.leaf.maxDef > 0) {
		return errNotEncoded
	}
	p.Levels = def
	if def > 0 && p.Size == def { // all NULL
		p.Bytes = def
		return nil
	}
	return checkSize(id, body[def:], p.Size-def)
}

// checkSize checks that size bytes, at least one, can come out of src.
func checkSize(id format.CompressionCodec, src []byte, size int) error {
	if size == 0 {
		return errNotEncoded
	}
	return check(id, src, size)
}
