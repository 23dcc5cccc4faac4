package kerneltest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// The emulator ends kernels whose threads cannot go on together, where a device
// would hang or go on with rubbish, and says on stderr who waits for what.
func TestMisfits(t *testing.T) {
	type launch func(*kerneltest.WarpMisfit, *cuda.Stream, cuda.Grid) error
	for name, c := range map[string]struct {
		launch launch
		text   string
	}{
		"kind": {
			func(k *kerneltest.WarpMisfit, s *cuda.Stream, g cuda.Grid) error { return k.Kind(s, g, 0) },
			"waits for it in __",
		},
		"mask":    {(*kerneltest.WarpMisfit).Mask, "__syncwarp of mask 0x00000007"},
		"outside": {(*kerneltest.WarpMisfit).Outside, "lane 5 calls __syncwarp of mask 0x00000001, which does not name it"},
		"exited":  {(*kerneltest.WarpMisfit).Exited, "exited"},
		"ring":    {(*kerneltest.WarpMisfit).Ring, "all threads wait for each other"},
		"barrier": {(*kerneltest.WarpMisfit).Barrier, "others wait at"},
		"lane":    {(*kerneltest.WarpMisfit).Lane, "__syncthreads"},
		"trap":    {(*kerneltest.WarpMisfit).Trap, "block 0, thread 40: trap"},
	} {
		t.Run(name, func(t *testing.T) {
			if !gputest.Emulated() {
				t.Skip("undefined on a device")
			}
			if !gputest.Alone(t) {
				return
			}
			d := newDevice(t)
			k := family(d, kerneltest.LoadWarpMisfit)
			text := stderr(t, func() {
				d.must(c.launch(k, d.stream, cuda.Grid{Blocks: 1, Threads: 64}))
				if err := d.stream.Synchronize(); !errors.Is(err, cuda.ErrLaunch) {
					t.Errorf("the kernel ends with %v, want a failed kernel", err)
				}
			})
			if !strings.Contains(text, "kernel warp_misfit_"+name+", block 0") || !strings.Contains(text, c.text) {
				t.Errorf("it says %q, want %q in it", text, c.text)
			}
		})
	}
}

// stderr is what the process writes there while f runs, by whatever way.
func stderr(t *testing.T, f func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	kept, err := syscall.Dup(syscall.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(kept)
	if err := syscall.Dup3(int(file.Fd()), syscall.Stderr, 0); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Dup3(kept, syscall.Stderr, 0); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
