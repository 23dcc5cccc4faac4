package gagg_test

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/spill/spilltest"
)

// moments is some of the numbers 1 to n: the first, the last, some between.
func moments(n int) []int {
	m := []int{1, 2, n / 2, n}
	slices.Sort(m)
	m = slices.Compact(m)
	return slices.DeleteFunc(m, func(i int) bool { return i < 1 || i > n })
}

// isKind reports whether err is of one kind at most, and of that if it is one.
func isKind(err, kind error) bool {
	for _, k := range []error{gagg.ErrUsage, gagg.ErrInput, gagg.ErrOverflow, gagg.ErrBudget, gagg.ErrDevice} {
		if errors.Is(err, k) != errors.Is(k, kind) {
			return false
		}
	}
	return true
}

// faults are what may go wrong with spill files, and what it must be called.
var faults = []struct {
	name  string
	fault spilltest.Fault // without N and Op
	ops   []spilltest.Op
	kind  error // nil: a failure while running
	is    func(error) bool
}{
	{"an I/O error", spilltest.Fault{Err: syscall.EIO}, spilltest.Ops, nil, isA[*spill.IOError]},
	{"no space", spilltest.Fault{Err: syscall.ENOSPC}, []spilltest.Op{spilltest.Mkdir, spilltest.Create, spilltest.Write}, gagg.ErrBudget, isA[*spill.FullError]},
	{"no space for the rest", spilltest.Fault{Err: syscall.ENOSPC, Short: true}, []spilltest.Op{spilltest.Write}, gagg.ErrBudget, isA[*spill.FullError]},
	{"too many files", spilltest.Fault{Err: syscall.EMFILE}, []spilltest.Op{spilltest.OpenDir, spilltest.Create}, gagg.ErrBudget, isA[*spill.DeniedError]},
	{"read-only", spilltest.Fault{Err: syscall.EROFS}, []spilltest.Op{spilltest.Mkdir, spilltest.Create}, gagg.ErrBudget, isA[*spill.DeniedError]},
	{"a short write", spilltest.Fault{Short: true}, []spilltest.Op{spilltest.Write}, nil, isA[*spill.IOError]},
	{"a short read", spilltest.Fault{Short: true}, []spilltest.Op{spilltest.Read}, nil, isA[*spill.DamagedError]},
	{"a flipped bit", spilltest.Fault{Flip: true}, []spilltest.Op{spilltest.Read}, nil, isA[*spill.DamagedError]},
}

// essential are the operations that a query which spills cannot do without.
var essential = []spilltest.Op{spilltest.Create, spilltest.Write, spilltest.Read}

func isA[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// F1, F3, F4: whichever operation on spill files fails, in whatever way, once
// or from then on, a query has the exact answer or an error of the right
// kind; and memory, goroutines and files are let go.
func TestSpillFaults(t *testing.T) {
	for i, c := range spillCases(t) {
		if testing.Short() && i > 0 {
			break // with -short, which is for the race detector, one strategy is enough
		}
		t.Run(c.name, func(t *testing.T) {
			want := mustAnswer(t, c.query, c.tuned.of(gagg.Options{Threads: 2}))
			limit := 3 * leastLimit(t, c.query, c.tuned.of(gagg.Options{})) / 2
			trial := &faultTrial{query: c.query, opt: c.tuned.of(gagg.Options{Threads: 2, MemoryLimit: limit}), want: want}
			counts := spilltest.New()
			if err := trial.run(t, counts, "nothing"); err != nil || counts.Count(spilltest.Write) < 4 || counts.Count(spilltest.Read) < 4 {
				t.Fatalf("%d blocks written, %d read, error %v", counts.Count(spilltest.Write), counts.Count(spilltest.Read), err)
			}
			for _, f := range faults {
				for _, op := range f.ops {
					if i > 0 && !slices.Contains(essential, op) {
						continue
					}
					for _, n := range moments(counts.Count(op)) {
						fault := f.fault
						fault.Op, fault.N, fault.Forever = op, n, n%2 == 0
						fs := spilltest.New(fault)
						err := trial.run(t, fs, f.name+" of "+string(op))
						if err == nil && fs.Injected() > 0 && slices.Contains(essential, op) {
							t.Errorf("%s of %s %d: no error", f.name, op, n)
						}
						if err != nil && (!isKind(err, f.kind) || !f.is(err) || strings.Contains(err.Error(), "\n")) {
							t.Errorf("%s of %s %d: error %v", f.name, op, n, err)
						}
					}
				}
			}
		})
	}
}

// faultTrial is a query that is run again and again.
type faultTrial struct {
	query gagg.Query
	opt   gagg.Options
	want  []string
}

// run runs the query on a file system with faults, checks what holds in any
// case, and returns the error.
func (f *faultTrial) run(t *testing.T, fs *spilltest.FS, what string) error {
	t.Helper()
	before := runtime.NumGoroutine()
	temp := t.TempDir()
	got, _, _, err := limitedTo(t.Context(), t, temp, f.query, gagg.Tuned(f.opt, gagg.SpillFS(fs)))
	if err == nil && !slices.Equal(got, f.want) {
		t.Errorf("%s: %d rows that are wrong, and no error", what, len(got))
	}
	if n := fs.Opened(); n != 0 {
		t.Errorf("%s: %d files or folders are still open", what, n)
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %d goroutines, %d before", what, runtime.NumGoroutine(), before)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		if err == nil {
			t.Errorf("%s: left in the temp folder without an error: %v", what, left)
		}
		sweepAway(t, temp)
	}
	return err
}

// sweepAway has the next user of a temp folder remove what a failed one left.
func sweepAway(t *testing.T, temp string) {
	t.Helper()
	s, err := spill.Open(spill.Config{Dir: temp})
	if err == nil {
		err = errors.Join(s.Probe(), s.Close())
	}
	if left, _ := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temp folder after the next use: %v, %v", left, err)
	}
}
