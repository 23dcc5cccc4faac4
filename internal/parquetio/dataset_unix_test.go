//go:build unix

package parquetio

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gagg-dev/gagg/internal/filepool"
)

func init() {
	spent = func() time.Duration {
		var used unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
			panic(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
}

// Where the system gives out fewer descriptors than the pool would use, it
// makes do with those.
func TestDatasetFewDescriptors(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 60 {
		writeRows(t, fmt.Sprintf("d/%03d.parquet", i), 10, []idName{{int64(i), nil}})
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	low := limit
	low.Cur = uint64(openDescriptors(t) + 30)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Skip(err)
	}
	rows, err := countRows(t, mustOpen(t, Options{}, "d"), ScanOptions{Columns: []int{0}})
	if err != nil || rows != 60 {
		t.Error(rows, err)
	}
}

// F45: a pipe is no input, and is passed over where a folder holds one.
// Neither is opened, which would wait for a writer.
func TestPipes(t *testing.T) {
	touch(t, "d/a.parquet")
	if err := unix.Mkfifo("d/pipe.parquet", 0o666); err != nil {
		t.Skip(err)
	}
	for _, p := range []string{"d", "d/*"} {
		if got, err := list(t, p); err != nil || len(got) != 1 {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
	if _, err := list(t, "d/pipe.parquet"); !errors.Is(err, filepool.ErrNotRegular) {
		t.Error(err)
	}
}
