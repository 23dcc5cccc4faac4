package gagg_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg"
)

// sumRow is a row of a key and of numbers of several types.
type sumRow struct {
	K     int64    `parquet:"k"`
	Coded int64    `parquet:"coded,dict"`
	Some  *int64   `parquet:"some,optional"`
	Short int64    `parquet:"short,decimal(2:15)"`
	Wide  [13]byte `parquet:"wide,decimal(4:30)"`
}

// sumsFile is a table of numbers from 0 to some thousands. far: but for some that are far from 0, of which the footer says nothing.
func sumsFile(t *testing.T, far bool) string {
	t.Helper()
	var b bytes.Buffer
	file := parquet.NewGenericWriter[sumRow](&b)
	for i := range int64(6000) {
		n := i * 7919 % 5003
		if far && i%1000 == 999 {
			n = 1<<61 + i
		}
		r := sumRow{K: i * 31 % 2003, Coded: n % 50, Short: n}
		if far {
			r.Coded = n
		}
		if i%7 > 0 {
			r.Some = &n
		}
		binary.BigEndian.PutUint64(r.Wide[5:], uint64(n))
		if far && i == 5999 {
			r.Wide[0] = 1 // more than 64 bits
		}
		if _, err := file.Write([]sumRow{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	if far {
		out = withNearEnds(t, out)
	}
	path := filepath.Join(t.TempDir(), "sums.parquet")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withNearEnds is a file whose footer says that all numbers are from 0 to 1.
func withNearEnds(t *testing.T, file []byte) []byte {
	t.Helper()
	return withFooter(t, file, func(m *format.ColumnMetaData) {
		n := len(m.Statistics.MinValue)
		low, high := make([]byte, n), make([]byte, n)
		if n > 0 && m.Type == format.FixedLenByteArray {
			high[n-1] = 1 // the most significant byte comes first
		} else if n > 0 {
			high[0] = 1
		}
		m.Statistics.MinValue, m.Statistics.MaxValue, m.Statistics.Min, m.Statistics.Max = low, high, nil, nil
	})
}

// Sums of columns whose statistics are small take one word, and are right; where the statistics lie, the input is read again.
func TestSumBits(t *testing.T) {
	args := []string{"coded", "some", "short", "wide", "short * (1 - short)", "some + coded"}
	for k, far := range []bool{false, true, true} {
		if far { // products and sums of such numbers overflow
			args = args[:min(4, 6-2*k)] // the numbers of the last are no decimals, which have digits to exceed
		}
		from := gagg.Files(sumsFile(t, far))
		var log bytes.Buffer
		o := gagg.Options{Threads: 2, Device: "cpu", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		ask := func(form string) (lines []string, words int) {
			q := gagg.Query{From: from, By: []string{"k"}}
			for _, arg := range args {
				arg = fmt.Sprintf(form, arg)
				q.Aggs = append(q.Aggs, gagg.Expr("sum("+arg+")"), gagg.Expr("avg("+arg+")"))
			}
			lines = mustAnswer(t, q, o)
			plan, err := gagg.Plan(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			return lines, plan.StateWords
		}
		got, words := ask("%s")
		if again := strings.Contains(log.String(), "read again"); again != far {
			t.Errorf("far %t: read again %t", far, again)
		}
		want, plain := ask("case when k = k then %s end") // nobody knows where it is
		for i := range want {
			if got[i] != want[i] && i > 0 {
				t.Fatalf("far %t: %s, want %s", far, got[i], want[i])
			}
		}
		if words >= plain {
			t.Errorf("%d words, without the statistics %d", words, plain)
		}
	}
}
