package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// onePage is a builder of a good file of one row.
func onePage() fileBuilder {
	return fileBuilder{rows: 1, pages: []page{pageV1(format.Plain, 1, cat(sized(2, 1), le32(7))...)}}
}

// TestNotParquet: what is at the ends of a file.
func TestNotParquet(t *testing.T) {
	good := onePage().build(t)
	end := len(good) - 4
	change := func(at int, text string) []byte {
		b := bytes.Clone(good)
		copy(b[at:], text)
		return b
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":             {nil, "only 0 bytes"},
		"magic":               {good[:4], "only 4 bytes"},
		"text":                {[]byte("id,name\n1,one\n2,two\n"), `begins with "id,n"`},
		"head":                {change(0, "XXXX"), `begins with "XXXX"`},
		"tail":                {change(end, "XXXX"), `ends with "XXXX"`},
		"cut":                 {good[:end], "ends with"},
		"encrypted head":      {change(0, "PARE"), "encrypted"},
		"encrypted tail":      {change(end, "PARE"), "encrypted"},
		"empty footer":        {change(end-4, "\x00\x00\x00\x00"), "footer of 0 bytes"},
		"footer beyond file":  {change(end-4, "\xff\xff\x00\x00"), "footer of 65535 bytes"},
		"footer beyond int":   {change(end-4, "\xff\xff\xff\xff"), "footer of 4294967295 bytes"},
		"footer of zeros":     {withFooter([]byte(magic), make([]byte, 20)), "damaged footer"},
		"footer that ends":    {withFooter([]byte(magic), []byte{0x15}), "damaged footer"},
		"footer of bad types": {withFooter([]byte(magic), []byte{0x1F, 0}), "unknown Thrift type 15"},
	} {
		t.Run(name, func(t *testing.T) { readError(t, test.data, test.want) })
	}
}

// TestFooterLies: each number of the footer that disagrees with another, the
// schema or the file.
func TestFooterLies(t *testing.T) {
	chunk := func(f func(*format.ColumnChunk)) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) { f(&m.RowGroups[0].Columns[0]) }
	}
	for name, test := range map[string]struct {
		change func(*format.FileMetaData)
		want   string
	}{
		"rows of the file":     {func(m *format.FileMetaData) { m.NumRows = 2 }, "the footer says 2 rows, its row groups 1"},
		"negative rows":        {func(m *format.FileMetaData) { m.RowGroups[0].NumRows = -1 }, "row group 0: damaged: -1 rows"},
		"rows of the group":    {func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 2; m.NumRows = 2 }, "fewer rows in the pages than the row group has"},
		"uncountable rows":     {func(m *format.FileMetaData) { manyRows(m) }, "more rows than can be counted"},
		"impossible rows":      {func(m *format.FileMetaData) { claimRows(m, 1<<60) }, "damaged: 1152921504606846976 rows in 3"},
		"no chunk":             {func(m *format.FileMetaData) { m.RowGroups[0].Columns = []format.ColumnChunk{} }, "0 column chunks for 1 columns"},
		"two chunks":           {func(m *format.FileMetaData) { rg := &m.RowGroups[0]; rg.Columns = append(rg.Columns, rg.Columns[0]) }, "2 column chunks for 1 columns"},
		"type":                 {chunk(func(c *format.ColumnChunk) { c.MetaData.Type = format.Int64 }), "INT32 in the schema, INT64"},
		"name":                 {chunk(func(c *format.ColumnChunk) { c.MetaData.PathInSchema = []string{"y"} }), `the row group calls it "y"`},
		"codec":                {chunk(func(c *format.ColumnChunk) { c.MetaData.Codec = 5000 }), "unknown compression codec 5000"},
		"negative values":      {chunk(func(c *format.ColumnChunk) { c.MetaData.NumValues = -1 }), "-1 values"},
		"offset in the magic":  {chunk(func(c *format.ColumnChunk) { c.MetaData.DataPageOffset = 3 }), "outside the data"},
		"negative offset":      {chunk(func(c *format.ColumnChunk) { c.MetaData.DataPageOffset = math.MinInt64 }), "outside the data"},
		"offset in the footer": {chunk(func(c *format.ColumnChunk) { c.MetaData.DataPageOffset = 90 }), "outside the data"},
		"negative size":        {chunk(func(c *format.ColumnChunk) { c.MetaData.TotalCompressedSize = -1 }), "outside the data"},
		"size beyond the file": {chunk(func(c *format.ColumnChunk) { c.MetaData.TotalCompressedSize = math.MaxInt64 }), "outside the data"},
		"other file":           {chunk(func(c *format.ColumnChunk) { c.FilePath = "part-0" }), `in another file ("part-0")`},
		"encrypted column":     {chunk(func(c *format.ColumnChunk) { c.CryptoMetadata.Value = &format.EncryptionWithFooterKey{} }), "encrypted"},
		"encrypted file":       {func(m *format.FileMetaData) { m.EncryptionAlgorithm.Value = &format.AesGcmV1{} }, "encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			b := onePage()
			b.change = test.change
			readError(t, b.build(t), test.want)
		})
	}
}

func claimRows(m *format.FileMetaData, rows int64) {
	m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = rows, rows, rows
}

func manyRows(m *format.FileMetaData) {
	m.RowGroups = append(m.RowGroups, m.RowGroups[0])
	for i := range m.RowGroups {
		c := m.RowGroups[i].Columns[0]
		c.MetaData.NumValues = math.MaxInt64
		m.RowGroups[i].Columns = []format.ColumnChunk{c}
		m.RowGroups[i].NumRows = math.MaxInt64
	}
}

// TestFooterLenience: lies that do no harm, told by real writers.
func TestFooterLenience(t *testing.T) {
	for name, change := range map[string]func(*format.FileMetaData){
		"rows left at zero":            func(m *format.FileMetaData) { m.NumRows = 0 },
		"dictionary offset of nothing": func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = 1 << 40 },
		"negative dictionary offset":   func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = -1 },
		"too many values":              func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 11 },
		"no values":                    func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 0 },
		"size without the last bytes":  func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize -= 12 },
	} {
		t.Run(name, func(t *testing.T) {
			b := onePage()
			b.change = change
			wantColumn(t, b.build(t), int32Column(7))
		})
	}
}

// TestKeyWithoutValue: the format lets a key stand alone, parquet-go's
// decoder does not.
func TestKeyWithoutValue(t *testing.T) {
	type keyOnly struct {
		Key string `thrift:"1,required"`
	}
	type fileMeta struct {
		Keys []keyOnly `thrift:"5,optional"`
	}
	data := marshal(t, &fileMeta{Keys: []keyOnly{{"a"}, {"b"}}})
	walk := thriftWalk{data: data}
	if err := walk.footer(); err != nil || len(walk.bare) != 2 {
		t.Fatal(walk.bare, err)
	}
	var got format.FileMetaData
	err := thrift.Unmarshal(new(thrift.CompactProtocol), walk.withValues(), &got)
	var missing *thrift.MissingField
	if !errors.As(err, &missing) || len(got.KeyValueMetadata) != 2 || got.KeyValueMetadata[1] != (format.KeyValue{Key: "b"}) {
		t.Errorf("%+v, %v", got.KeyValueMetadata, err)
	}
}

// decodedQuickly is the footer that decodeQuickly makes, in the library's form, without keys and
// values; nil: the footer is odd.
func decodedQuickly(t *testing.T, data []byte) (*format.FileMetaData, error) {
	t.Helper()
	f := &file{limits: Limits{}.withDefaults(), end: 1 << 40}
	usual, err := f.decodeQuickly(data)
	if !usual || err != nil {
		return nil, err
	}
	meta := *f.meta
	meta.RowGroups = make([]format.RowGroup, len(f.groups))
	for g := range meta.RowGroups {
		meta.RowGroups[g].NumRows = f.groups[g].rows
		for c := range f.leaves {
			if f.chunk(g, c) != f.chunk(g, c) { //nolint:staticcheck // it is decoded once
				t.Errorf("chunk %d of row group %d is decoded twice", c, g)
			}
			meta.RowGroups[g].Columns = append(meta.RowGroups[g].Columns, *f.chunk(g, c))
		}
	}
	return &meta, nil
}

// comparable is what decodedQuickly keeps of a footer that the library has decoded.
func comparable(f *file) *format.FileMetaData {
	m := *f.meta
	m.Schema, m.KeyValueMetadata = nil, nil
	m.RowGroups = slices.Clone(f.chunks.whole)
	for g := range m.RowGroups {
		m.RowGroups[g] = format.RowGroup{NumRows: m.RowGroups[g].NumRows, Columns: m.RowGroups[g].Columns}
	}
	return &m
}

// A footer that is decoded in one pass means what the library makes of it, and is damaged when
// the library says so.
func TestQuickFooter(t *testing.T) {
	footer := manyGroupsFooter(t, 50)
	random := rand.New(rand.NewPCG(1, 2))
	usual, failed := 0, 0
	for i := range 3000 {
		data := footer
		if i > 0 {
			data = changed(footer, random)
		}
		walk := thriftWalk{data: data}
		if walk.footer() != nil {
			if got, err := decodedQuickly(t, data); got != nil {
				t.Fatalf("change %d: %v, a damaged footer", i, err)
			}
			continue
		}
		got, err := decodedQuickly(t, data)
		whole := &file{limits: Limits{}.withDefaults(), end: 1 << 40}
		switch wantErr := whole.decodeWhole(data); {
		case err != nil:
			failed++
			if wantErr == nil {
				t.Fatalf("change %d: %v", i, err)
			}
		case got != nil:
			usual++
			if wantErr != nil || !reflect.DeepEqual(got, comparable(whole)) {
				t.Fatalf("change %d: other than by the library, %v\n%+v\n%+v", i, wantErr, got, comparable(whole))
			}
		case i == 0:
			t.Error("a usual footer is odd")
		}
	}
	if usual < 500 || failed < 10 {
		t.Errorf("%d footers were decoded, %d refused", usual, failed)
	}
}

// Schemas that are decoded without the library are what it would make of them.
func TestQuickSchema(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	decode := func(data []byte, e *format.SchemaElement) bool {
		q := thriftQuick{data: data}
		q.element(e)
		return !q.odd && q.pos == len(data)
	}
	all := 0
	for _, l := range []format.LogicalTypeValue{
		nil, &format.StringType{}, &format.MapType{}, &format.ListType{}, &format.EnumType{}, &format.DecimalType{Scale: 2, Precision: 9}, &format.DateType{},
		&format.TimeType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}}},
		&format.TimestampType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}, &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.NanoSeconds{}}},
		&format.IntType{BitWidth: 8, IsSigned: true}, &format.IntType{BitWidth: 64}, &format.NullType{}, &format.JsonType{}, &format.BsonType{}, &format.UUIDType{}, &format.Float16Type{},
	} {
		e := optional(format.Int64)
		e.LogicalType.Value = l
		e.TypeLength, e.NumChildren, e.Scale, e.Precision, e.FieldID = thrift.New(int32(16)), thrift.New(int32(0)), thrift.New(int32(2)), thrift.New(int32(9)), 7
		e.ConvertedType = thrift.New(deprecated.Decimal)
		data := marshal(t, &e)
		if !agree(t, data, decode) {
			t.Errorf("odd: %+v", e)
		}
		for range 1000 {
			b := changed(data, r)
			if walk := (thriftWalk{data: b}); walk.structure(0, 0) == nil && agree(t, b, decode) {
				all++
			}
		}
	}
	if all < 3000 {
		t.Errorf("%d elements were decoded", all)
	}
}

// A query wants few columns: chunks that nobody asks for are not decoded.
func TestChunksAreDecodedWhenAskedFor(t *testing.T) {
	data := manyGroupsFooter(t, 20)
	f := &file{limits: Limits{}.withDefaults(), end: 1 << 40}
	if usual, err := f.decodeQuickly(data); !usual || err != nil {
		t.Fatal(usual, err)
	}
	f.chunk(7, 0)
	for i := range f.chunks.made {
		if made := f.chunks.made[i].Load() != nil; made != (i == 7) {
			t.Errorf("chunk %d: %v", i, made)
		}
	}
}

// manyGroupsFooter is a footer with so many row groups.
func manyGroupsFooter(t testing.TB, groups int) []byte {
	b := onePage()
	var meta format.FileMetaData
	b.change = func(m *format.FileMetaData) {
		g := &m.RowGroups[0]
		g.SortingColumns, g.Columns[0].MetaData.KeyValueMetadata = []format.SortingColumn{}, []format.KeyValue{}
		g.TotalByteSize, g.FileOffset, g.TotalCompressedSize, g.Ordinal = 100, 4, 90, 1
		c := &g.Columns[0]
		c.FileOffset, c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 4, 200, 20, 220, 30
		c.MetaData.IndexPageOffset, c.MetaData.DictionaryPageOffset = 40, 50
		c.MetaData.Statistics = format.Statistics{Min: []byte("a"), Max: []byte("b"), MinValue: le32(1), MaxValue: le32(2), NullCount: 3, DistinctCount: 4}
		c.MetaData.EncodingStats = []format.PageEncodingStats{{PageType: format.DataPage, Encoding: format.Plain, Count: 1}, {PageType: format.DataPage}}
		c.MetaData.BloomFilterOffset, c.MetaData.BloomFilterLength = 300, 64
		c.MetaData.SizeStatistics = format.SizeStatistics{UnencodedByteArrayDataBytes: 9, DefinitionLevelHistogram: []int64{1, 2}, RepetitionLevelHistogram: []int64{}}
		for len(m.RowGroups) < groups {
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}
		m.NumRows = int64(groups)
		meta = *m
	}
	b.build(t)
	return marshal(t, &meta)
}

func BenchmarkFooter(b *testing.B) {
	data := manyGroupsFooter(b, 1000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f := &file{limits: Limits{}.withDefaults()}
		f.end = 1 << 40
		if usual, err := f.decodeQuickly(data); !usual || err != nil {
			b.Fatal(usual, err)
		}
	}
}

// TestThriftBombs: a footer or page header cannot ask for more than its size
// justifies, nor for endless recursion.
func TestThriftBombs(t *testing.T) {
	list := func(field byte, n uint64, element ...byte) []byte {
		b := binary.AppendUvarint([]byte{field<<4 | thriftList, 0xF0 | thriftStruct}, n)
		return append(b, bytes.Repeat(element, int(min(n, 1<<20)))...)
	}
	deep := bytes.Repeat([]byte{1<<4 | thriftStruct}, 1<<20)
	for name, test := range map[string]struct {
		footer []byte
		want   string
	}{
		"list without elements": {list(4, 1<<31-1), "ends inside"},
		"list beyond 31 bits":   {list(4, 1<<40), "ends inside"},
		"tiny column chunks":    {cat([]byte{4<<4 | thriftList, 1<<4 | thriftStruct}, list(1, 1<<20, 0), []byte{0, 0}), "ask for"},
		"nested structs":        {deep, "nested too deeply"},
		"nested lists":          {append([]byte{9<<4 | thriftList}, bytes.Repeat([]byte{1<<4 | thriftList}, 1<<20)...), "nested too deeply"},
		"map without elements":  {append([]byte{9<<4 | thriftMap}, 0xFF, 0xFF, 0xFF, 0x7F), "ends inside"},
	} {
		t.Run(name, func(t *testing.T) {
			data := withFooter([]byte(magic), test.footer)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			readError(t, data, test.want)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
				t.Errorf("allocated %d bytes", grown)
			}
		})
	}
	b := onePage()
	b.change = func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 100 }
	header := page{body: deep[:1000]}
	b.pages = []page{header, header}
	readError(t, b.build(t), "")
}

// TestLimits: the footer and the schema's depth.
func TestLimits(t *testing.T) {
	good := onePage().build(t)
	open := func(lim Limits) error {
		_, err := openFile("f", bytes.NewReader(good), int64(len(good)), lim)
		return err
	}
	if err := open(Limits{MaxFooter: 10}); err == nil || !strings.Contains(err.Error(), "the limit is 10") {
		t.Error(err)
	}
	f, err := openFile("f", bytes.NewReader(good), int64(len(good)), Limits{MaxPage: 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readColumn(f, 0, 1, nil); err == nil || !strings.Contains(err.Error(), "the limit is 5") {
		t.Error(err)
	}
}

// TestShortFile: a file that has become shorter is an error, and so is a
// reader that fails.
func TestShortFile(t *testing.T) {
	good := onePage().build(t)
	if _, err := openFile("f", bytes.NewReader(good[:len(good)-8]), int64(len(good)), Limits{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	r := &replacedReader{bytes.NewReader(good)}
	f, err := openFile("f", r, int64(len(good)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r.ReaderAt = bytes.NewReader(nil)
	if _, err := readColumn(f, 0, 1, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

type replacedReader struct{ io.ReaderAt }

// TestFence: a panic becomes an error of one line that names its place.
func TestFence(t *testing.T) {
	do := func() (err error) {
		defer invariant.Fence(&err, damagedIn("f"))
		panic("two\nlines")
	}
	if got := do().Error(); got != "f: damaged (decoder: two lines)" {
		t.Error(got)
	}
	data := onePage().build(t)
	r := &replacedReader{bytes.NewReader(data)}
	f, err := openFile("f", r, int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r.ReaderAt = nil // a call panics
	if _, err := readColumn(f, 0, 1, nil); err == nil || !strings.HasPrefix(err.Error(), `f: row group 0, column "x": damaged (decoder: `) {
		t.Error(err)
	}
	if _, err := openFile("f", r, int64(len(data)), Limits{}); err == nil || !strings.HasPrefix(err.Error(), "f: damaged (decoder: ") {
		t.Error(err)
	}
}
