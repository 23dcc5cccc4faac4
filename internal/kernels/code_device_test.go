package kernels

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// shipped is the sources of this package.
var shipped = []*Source{
	&egaAnySource, &egaCountSource, &egaKey1Source, &egaKey2Source, &egaKey3Source, &egaKey4Source, &egaListsSource, &egaOrderSource,
	&egaPairSource, &egaRareSource, &egaRegroupSource, &egaScatterChainSource, &egaSelectSource, &factsSource, &pagesSource, &parquetCodedSource, &parquetComputeSource, &parquetDecodeSource,
	&parquetDeltasSource, &parquetRowsSource, &parquetSnappySource, &parquetTextsSource, &parquetZstdSource,
}

func TestAllShipped(t *testing.T) {
	files, err := filepath.Glob("ptx/*.ptx")
	if err != nil || len(files) != len(shipped) {
		t.Errorf("%d files of PTX, the tests look at %d: %v", len(files), len(shipped), err)
	}
}

// On devices that there is machine code for, each kernel is loaded from it, at the first try, and
// has the parameters, block and shared memory that its PTX says.
func TestDeviceCode(t *testing.T) {
	for _, architecture := range []string{"80", "86", "87", "89", "90"} {
		t.Run(architecture, func(t *testing.T) {
			t.Setenv("GAGG_EMU_ARCHITECTURE", architecture)
			if !gputest.Alone(t) {
				return
			}
			thread := gputest.Open(t)
			d := thread.Context().Device()
			emulator, emulated := emu.Control()
			if emulated && strconv.Itoa(10*d.Major+d.Minor) != architecture {
				t.Fatalf("the emulator has compute capability %d.%d", d.Major, d.Minor)
			}
			for _, s := range shipped {
				if len(s.Code) == 0 {
					continue // of PTX that was made without an assembler
				}
				for _, part := range s.parts() {
					if len(part.Code(d.Major, d.Minor)) == 0 {
						if emulated {
							t.Errorf("%s: no code for compute capability %d.%d", part.Kernel, d.Major, d.Minor)
						}
						continue
					}
					want := attributes(t, thread, &cuda.Source{Kernel: part.Kernel, PTX: part.PTX})
					before := loads(emulator, emulated)
					got := attributes(t, thread, part)
					if n := loads(emulator, emulated) - before; emulated && n != 1 {
						t.Errorf("%s: %d modules were tried", part.Kernel, n)
					}
					if got.StaticShared < want.StaticShared || got.StaticShared > want.StaticShared+mostGap || got.MaxThreads != want.MaxThreads {
						t.Errorf("%s: %+v, its PTX gives %+v", part.Kernel, got, want)
					}
				}
			}
		})
	}
}

// mostGap is the most that shared variables may be apart for their alignment, which the emulator
// leaves out of what it reads of PTX.
const mostGap = 16

func attributes(t *testing.T, thread *cuda.Thread, s *cuda.Source) cuda.FunctionAttributes {
	t.Helper()
	f, err := thread.Context().Function(s)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Attributes()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func loads(e *emu.Emu, emulated bool) int {
	if !emulated {
		return 0
	}
	return e.Calls()["cuModuleLoadDataEx"]
}
