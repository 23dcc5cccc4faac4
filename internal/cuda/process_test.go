package cuda_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// What programs do, from the driver to the answer.
func TestTour(t *testing.T) {
	gputest.Open(t)
	must(t, tour())
}

// F66: processes that use one device at once all end right. There is nothing
// that one which died could have kept locked.
func TestEightProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("eight processes")
	}
	gputest.Open(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			command := bounded.Command(t, os.Args[0], "-test.run=^TestTour$", "-test.v", "-test.count=1")
			output, err := command.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "--- PASS: TestTour") {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
}
