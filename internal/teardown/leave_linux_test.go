package teardown

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

func TestMain(m *testing.M) {
	Here()
	os.Exit(m.Run())
}

// What is left to another process is open there, with nothing else of this process, until this one
// lets go; then that one ends.
func TestLeave(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	other, err := leave(program, []uintptr{w.Fd()})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	link := func(pid, number int) string {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, number))
		if err != nil {
			t.Error(err)
		}
		return name
	}
	if got, want := link(other.pid, 3), link(os.Getpid(), int(r.Fd())); got != want {
		t.Errorf("it holds %s, not %s", got, want)
	}
	for _, number := range []int{1, 2} {
		if got := link(other.pid, number); got != os.DevNull {
			t.Errorf("descriptor %d is %s", number, got)
		}
	}
	if session, _, failed := syscall.Syscall(syscall.SYS_GETSID, uintptr(other.pid), 0, 0); failed != 0 || int(session) != other.pid {
		t.Errorf("session %d (%v), want its own, %d", session, failed, other.pid)
	}

	closed(other.ends)
	bounded.Wait(t, "the end of the other process", func() {
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("after its end: %d bytes, %v", n, err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(other.pid, &status, 0, nil); err != nil || !status.Exited() || status.ExitStatus() != 0 {
			t.Errorf("it ended with %v (%v)", status, err)
		}
	})
}

// A program that is not there leaves nothing open.
func TestLeaveToNobody(t *testing.T) {
	before := opened(descriptors, "")
	if _, err := leave(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
	if after := opened(descriptors, ""); len(after) != len(before) {
		t.Errorf("%v are open, and were %v", after, before)
	}
}

func TestOpened(t *testing.T) {
	dir := t.TempDir()
	for number, name := range map[string]string{"3": "/dev/nvidiactl", "4": "/dev/null", "17": "/dev/nvidia-uvm", "x": "/dev/nvidia0"} {
		if err := os.Symlink(name, filepath.Join(dir, number)); err != nil {
			t.Fatal(err)
		}
	}
	if got := opened(dir, devices); !slices.Equal(got, []uintptr{17, 3}) {
		t.Errorf("got %v", got)
	}
	if got := opened(filepath.Join(dir, "none"), devices); got != nil {
		t.Errorf("of no folder: %v", got)
	}
}
