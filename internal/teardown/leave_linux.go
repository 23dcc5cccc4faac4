package teardown

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The driver's files, the descriptors of a process, and its program.
const (
	devices     = "/dev/nvidia"
	descriptors = "/proc/self/fd"
	program     = "/proc/self/exe"
)

func elsewhere() {
	if held := opened(descriptors, devices); len(held) > 0 {
		_, _ = leave(program, held)
	}
}

// process is one that leave has started.
type process struct {
	pid  int
	ends int // a descriptor: the process ends when it is closed
}

// leave starts the program under the name Name with these descriptors, until this process has ended
// at the latest. Descriptors are numbers here, since package os closes its files when nobody refers
// to them.
func leave(program string, held []uintptr) (_ process, err error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return process{}, err
	}
	defer closed(pipe[0])
	defer func() {
		if err != nil {
			closed(pipe[1])
		}
	}()
	nothing, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return process{}, err
	}
	defer closed(nothing)
	// Of the files of this process it has those alone: whoever reads the output sees its end with
	// the end of this process. The terminal's signals are not for it.
	pid, err := syscall.ForkExec(program, []string{Name}, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: append([]uintptr{uintptr(pipe[0]), uintptr(nothing), uintptr(nothing)}, held...),
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	return process{pid, pipe[1]}, err
}

// closed closes a descriptor of this process, of which nothing is left to write.
func closed(descriptor int) { _ = syscall.Close(descriptor) }

// opened is the numbers of the open files whose names begin so. The folder has a link to each
// open file, with its number as name.
func opened(folder, prefix string) (held []uintptr) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(folder, e.Name()))
		if number, no := strconv.Atoi(e.Name()); err == nil && no == nil && strings.HasPrefix(name, prefix) {
			held = append(held, uintptr(number))
		}
	}
	return held
}
