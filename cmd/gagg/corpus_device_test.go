package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/corpus"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// corpusDevice is a device with room for everything, corpusTinyDevice one with so little that
// many groups leave it. corpusSmallDevice has room for some groups, and decodes all that the
// first one does: what the emulator takes for a run is in proportion to the memory, which is
// cleared and looked through.
var (
	corpusSmallDevice = corpusVariant{args: []string{"-j", "2", "--device", "gpu", "--gpu-memory", "16MiB"}, device: true, plenty: true}
	corpusDevice      = corpusVariant{args: []string{"-j", "2", "--device", "gpu", "--gpu-memory", "64MiB"}, device: true}
	corpusTinyDevice  = corpusVariant{args: []string{"-j", "2", "--device", "gpu", "--gpu-memory", "1MiB", "--streams", "1"}, device: true}
)

const (
	tooManyGroups = 50_000 // for the emulator: some seconds
	someGroups    = 500    // fewer have room on any device
)

// mayFallBack reports whether what a run says is that the CPU does the query in place of the
// device that was asked for, and nothing else.
func (v corpusVariant) mayFallBack(stderr string) bool {
	return v.device && strings.HasPrefix(stderr, "level=WARN ") && strings.Count(stderr, "\n") == 1 &&
		strings.Contains(stderr, "the CPU goes on in place of the GPU") && strings.Contains(stderr, `what="the whole query"`)
}

// TestCorpusDevice runs every query on a valid file on a device. Those that no device can do are
// the CPU's.
func TestCorpusDevice(t *testing.T) {
	gputest.Need(t, 1)
	corpus.Each(t, corpusOnDevice)
}

func corpusOnDevice(t *testing.T, folder corpus.Folder) {
	cases := loadCorpus(t, folder.Dir, "valid/")
	passed := 0
	var stdout bytes.Buffer
	for _, c := range cases {
		if c.Groups > tooManyGroups {
			continue
		}
		ok := t.Run(c.ID, func(t *testing.T) {
			variants := []corpusVariant{corpusDevice, corpusTinyDevice}
			if c.Groups <= someGroups {
				variants = []corpusVariant{corpusSmallDevice}
			}
			for _, variant := range variants {
				stdout.Reset()
				c.runValid(t, folder.Dir, variant, &stdout)
				gputest.Closed(t)
			}
		})
		if ok {
			passed++
		}
	}
	t.Logf("%d of %d cases on valid files passed", passed, len(cases))
}
