// Package teardown lets a process that has used a GPU end before the driver has taken down what the
// process had there.
//
// The driver does that when the last descriptor of its device files is closed, which takes .1 s or
// more for a context. For as long the process that closes it does not end, so that a shell or a
// program that waits for it waits too. Another process can be the one that closes it: [Elsewhere]
// starts the same program under the name [Name] and gives it the descriptors. That process does
// nothing ([Here]) until the first one has ended, then ends as well, and the teardown is its own.
//
//	the process                        gagg-teardown
//	uses a GPU
//	Elsewhere ────── descriptors ────▶ Here: reads a pipe, which nobody writes to
//	ends, and with it the pipe ──────▶ sees its end; ends
//	                                   .1 s of teardown
//
// Until then memory of the GPU, and the host's memory that is pinned, are still held. A process
// that starts meanwhile finds as much less free. It would find no GPU at all that one process may
// use at a time: what a process had on such ones is taken down before it ends.
package teardown

import (
	"os"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Name is the name of the process in whose time the driver takes down contexts, as lists of
// processes show it. It has no other arguments.
const Name = "gagg-teardown"

// Here does not return in a process that Elsewhere has started: it ends with the process that did.
func Here() {
	if len(os.Args) == 1 && os.Args[0] == Name {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
}

// Elsewhere leaves the teardown of this process's contexts to another process, if the driver has
// files open here, and others may use the GPUs meanwhile. It is called right before the end of the
// process. Where it does not succeed the end takes longer, and nothing else is different.
func Elsewhere() {
	if !cuda.Exclusive() {
		elsewhere()
	}
}
