package parquetio

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
)

// textsFile is a row group of a column of n texts, optional or required, some of them again and
// again, empty or NULL.
func textsFile(t *testing.T, n int, text func(i int) string, optional bool, o ...parquet.WriterOption) []byte {
	t.Helper()
	node := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	if optional {
		node = parquet.Optional(node)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, append(o, parquet.NewSchema("texts", parquet.Group{"t": node}))...)
	for i := range n {
		v := parquet.ByteArrayValue([]byte(text(i))).Level(0, 0, 0)
		if optional {
			v = v.Level(0, 1, 0)
			if i%17 == 3 {
				v = parquet.NullValue().Level(0, 0, 0)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{{v}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Pages of values behind those of a dictionary become codes of it, and equal texts have one code,
// in all kinds of pages; pages of short texts stay as they are, unless all are wanted as codes.
func TestEncodedTexts(t *testing.T) {
	long := func(i int) string {
		if i%7 == 0 {
			return ""
		}
		return fmt.Sprintf("%s%d", strings.Repeat("text ", 10), i*i%3001)
	}
	short := func(i int) string { return fmt.Sprint(i * i % 3001) }
	small := []parquet.WriterOption{parquet.PageBufferSize(4 << 10), parquet.DictionaryMaxBytes(4 << 10)}
	for _, x := range []struct {
		name string
		text func(i int) string
		o    []parquet.WriterOption
		most int
		all  bool // pages become codes
	}{
		{"long", long, nil, 15, true},
		{"snappy", long, []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}, 15, true},
		{"snappy, v2", long, []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(2)}, 15, true},
		{"zstd", long, []parquet.WriterOption{parquet.Compression(&parquet.Zstd)}, 15, true},
		{"zstd, v2", long, []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2)}, 15, true},
		{"v2", long, []parquet.WriterOption{parquet.DataPageVersion(2)}, 15, true},
		{"short", short, nil, 15, false},
		{"short, all wanted", short, []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}, -1, true},
		{"long, none wanted", long, nil, EncodedTexts, false},
		{"empty", func(i int) string { return "" }, []parquet.WriterOption{parquet.Compression(&parquet.Snappy)}, -1, true},
	} {
		for _, optional := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/optional=%t", x.name, optional), func(t *testing.T) {
				const n = 10_000
				d, err := openBytes(t, Options{}, textsFile(t, n, x.text, optional, append(x.o, small...)...))
				if err != nil {
					t.Fatal(err)
				}
				r := scanOf(t, d, 0).NewReader()
				defer r.Close()
				if !checkEncoded(t, r, 0) {
					t.Error("the unit is not handed on as it is")
				}
				r.CodeTexts([]int{x.most})
				chunks, _, ok := readEncoded(t, r, 0)
				if !ok {
					t.Fatal("the unit is not handed on")
				}
				for _, p := range chunks[0].Pages {
					if x.all && !p.Coded {
						t.Fatalf("a page of values: %+v", p)
					}
				}
				if !x.all {
					return
				}
				texts := map[string]bool{}
				for i := range chunks[0].Dict.Len() {
					text := string(chunks[0].Dict.Values.Bytes(i))
					if texts[text] {
						t.Fatalf("%q has two codes", text)
					}
					texts[text] = true
				}
				want := map[string]bool{}
				for i := range n {
					if !optional || i%17 != 3 {
						want[x.text(i)] = true
					}
				}
				if len(texts) != len(want) {
					t.Errorf("%d codes for %d texts", len(texts), len(want))
				}
			})
		}
	}
}

// Where memory for codes is refused the unit is not handed on, and nothing of it is kept.
func TestEncodedTextsRefused(t *testing.T) {
	data := textsFile(t, 20_000, func(i int) string { return fmt.Sprintf("a text that is somewhat long, number %d", i) }, true,
		parquet.PageBufferSize(64<<10), parquet.DictionaryMaxBytes(4<<10), parquet.Compression(&parquet.Snappy))
	took, refused := 0, 0
	for limit := int64(1 << 20); limit < 8<<20; limit += 256 << 10 {
		memory := budgettest.AtMost(limit)
		d, err := openBytes(t, Options{Limits: Limits{Budget: memory}}, data)
		if err != nil {
			t.Fatal(err)
		}
		before := memory.Committed()
		r := scanOf(t, d, 0).NewReader()
		r.CodeTexts([]int{15})
		if _, _, ok := readEncoded(t, r, 0); ok {
			took++
		} else {
			refused++
		}
		if r.Close(); memory.Committed() != before {
			t.Fatalf("%d bytes are kept", memory.Committed()-before)
		}
	}
	if took == 0 || refused == 0 {
		t.Errorf("%d limits are enough, %d are not", took, refused)
	}
}
