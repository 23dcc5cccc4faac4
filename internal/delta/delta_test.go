package delta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
)

func commit(v int) string { return "0000000000000000000" + string(rune('0'+v)) + ".json" }

// The latest whole checkpoint up to a version is taken, then every commit behind it.
func TestChoose(t *testing.T) {
	t.Parallel()
	point := func(v int, rest string) string {
		return strings.TrimSuffix(commit(v), "json") + "checkpoint." + rest + "parquet"
	}
	two := []string{point(4, "0000000001.0000000002."), point(4, "0000000002.0000000002.")}
	for _, test := range []struct {
		names   []string
		version int64
		want    []string
		err     string
	}{
		{[]string{commit(1), commit(0), "_last_checkpoint", "0.json", commit(0) + ".tmp"}, -1, []string{commit(0), commit(1)}, ""},
		{[]string{commit(0), commit(1)}, 0, []string{commit(0)}, ""},
		{[]string{commit(0), commit(1)}, 7, nil, "no version 7: its latest is 1"},
		{[]string{commit(0), commit(2)}, -1, nil, "commit 1 is not in its log, which begins at 0"},
		{[]string{commit(3), point(2, ""), commit(2)}, -1, []string{point(2, ""), commit(3)}, ""},
		{[]string{commit(3), point(2, ""), commit(2)}, 1, nil, "version 1 of the Delta table cannot be read: commit 0 is not in its log, which begins at 2"},
		{[]string{commit(5), two[1], two[0]}, -1, []string{two[0], two[1], commit(5)}, ""},
		{[]string{commit(3), commit(4), two[1], point(2, "1e-2.")}, -1, []string{point(2, "1e-2."), commit(3), commit(4)}, ""},
		{nil, -1, nil, "has no version"},
	} {
		l, err := choose(slices.Clone(test.names), test.version)
		if !slices.Equal(l.files, test.want) && test.err == "" || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v at %d: %v, %v; want %v, %s", test.names, test.version, l.files, err, test.want, test.err)
		}
	}
}

// What a reader would have to understand is refused by name.
func TestProtocol(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		p    protocol
		want string
	}{
		{protocol{1, nil}, ""},
		{protocol{3, understood}, ""},
		{protocol{4, nil}, "needs a reader of version 4; up to 3"},
		{protocol{3, []string{"variantType", "deletionVectors", "typeWidening"}}, "needs a reader with typeWidening, variantType, which is not supported"},
	} {
		if err := test.p.check(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %q", test.p, err, test.want)
		}
	}
}

// Containers of all three kinds, of several high halves, give the rows they hold; a vector that is
// cut off anywhere, or has a byte changed, is an error or other rows, never a panic.
func TestRows(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	var list, bitmap, run []byte
	// a list of 5 and 70000, in two containers
	list = le.AppendUint32(le.AppendUint32(nil, noRuns), 2)
	for _, x := range []uint16{0, 0, 1, 0} {
		list = le.AppendUint16(list, x)
	}
	list = append(list, make([]byte, 8)...)
	list = le.AppendUint16(le.AppendUint16(list, 5), 70000-65536)
	// a bitmap of the even numbers below 10000
	bitmap = le.AppendUint16(le.AppendUint16(le.AppendUint32(le.AppendUint32(nil, noRuns), 1), 0), 4999)
	bitmap = append(bitmap, make([]byte, 4)...)
	for i := range lake.BlockWords {
		w := uint64(0)
		for b := range 64 {
			if n := i*64 + b; n < 10000 && n%2 == 0 {
				w |= 1 << b
			}
		}
		bitmap = le.AppendUint64(bitmap, w)
	}
	// runs 3..5 and 65535
	run = append(le.AppendUint32(nil, withRuns), 1)
	for _, x := range []uint16{0, 3, 2, 3, 2, 65535, 0} {
		run = le.AppendUint16(run, x)
	}
	data := le.AppendUint64(le.AppendUint32(nil, vectorMagic), 3)
	for i, b := range [][]byte{list, bitmap, run} {
		data = append(le.AppendUint32(data, uint32(i)), b...)
	}
	memory := budget.New(budget.Memory, 0)
	r, err := parseRows(data, memory)
	if err != nil || r.Count() != 2+5000+4 || memory.Reserved() != 4*lake.BlockRows/8 {
		t.Fatal(r, err)
	}
	for _, test := range []struct {
		first int64
		n     int
		want  []int32
	}{
		{3, 4, []int32{0, 1, 3}},
		{65534, 3, []int32{0, 1, 2}},
		{69999, 3, []int32{0, 2}},
		{1 << 32, 5, []int32{1, 3}},
		{1<<32 + 9998, 3, []int32{1, 2}},
		{2<<32 + 2, 5, []int32{0, 4}},
		{2<<32 + 65534, 3, []int32{0, 2}},
		{1 << 40, 2, []int32{0, 1}},
	} {
		if got := r.Left(test.first, test.n, nil); !slices.Equal(got, test.want) {
			t.Errorf("%d rows from %d: %v, want %v", test.n, test.first, got, test.want)
		}
	}
	for n := 0; n < len(data); n += 1 + n/200 {
		if _, err := parseRows(data[:n], budget.Or(nil)); err == nil {
			t.Fatalf("%d bytes of %d are taken", n, len(data))
		}
		other := bytes.Clone(data)
		other[n] ^= 0x55
		_, _ = parseRows(other, budget.Or(nil))
	}
	tight := budget.New(budget.Memory, lake.BlockRows/8)
	if _, err := parseRows(data, tight); budget.Refusal(err, budget.Memory) == nil {
		t.Errorf("%v where memory is short", err)
	}
}

// The example of the specification of Z85.
func TestBase85(t *testing.T) {
	t.Parallel()
	if got, err := base85("HelloWorld"); err != nil || !bytes.Equal(got, []byte{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B}) {
		t.Errorf("%x, %v", got, err)
	}
	for _, bad := range []string{"abcd", "abc\"e"} {
		if _, err := base85(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Values of partition columns are read by their types, as the protocol writes them.
func TestPartitionValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ typ, text, want string }{
		{"integer", "-7", "-7"},
		{"byte", "300", "!"},
		{"long", "x", "!"},
		{"boolean", "true", "1"},
		{"date", "2024-02-29", "19782"},
		{"date", "2024-02-30", "!"},
		{"timestamp", "1970-01-01 00:00:01.5", "1500000"},
		{"timestamp", "1970-01-01T00:00:01.000002Z", "1000002"},
		{"timestamp_ntz", "1970-01-02 00:00:00", "86400000000"},
		{"decimal(5,2)", "1.5", "150"},
		{"decimal(5,2)", "-0.01", "-1"},
		{"decimal(5,2)", "1.005", "!"},
		{"decimal(3,2)", "1e999999999", "!"},
		{"decimal(38,1)", "12345678901234567890.1", "123456789012345678901"},
		{"double", "1.5", "1.5"},
		{"string", "a b", "a b"},
	} {
		typ, err := typeOf(test.typ)
		if err != nil {
			t.Fatal(err)
		}
		v, err := partitionValue(test.text, typ)
		if got := shown(v, err); got != test.want {
			t.Errorf("%s %q: %s, want %s", test.typ, test.text, got, test.want)
		}
	}
	if _, err := typeOf("variant"); err == nil {
		t.Error("variant is taken")
	}
}

func shown(v column.Value, err error) string {
	switch {
	case err != nil:
		return "!"
	case v.Type.Rep() == column.RepBytes:
		return v.Bytes
	case v.Type.Rep() == column.RepWide:
		return v.Wide.BigInt().String()
	case v.Type.IsFloat():
		return fmt.Sprint(v.Float)
	}
	return fmt.Sprint(v.Int)
}
