package gagg

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/gputest"
)

// A run that asks for a GPU with too little memory to begin with ends with an error that tells
// what is enough, like every limit that is too small. A little more than that is used to the
// full.
func TestDeviceMemoryLimit(t *testing.T) {
	gputest.Need(t, 1)
	q := Query{From: Files("testdata/orders.parquet"), By: []string{"price"}, Aggs: []Agg{Sum("quantity")}}
	_, err := Run(context.Background(), q, Options{Threads: 2, Device: "gpu", GPUMemory: 100 << 10})
	if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "GPU memory limit too small: needs at least ") {
		t.Fatalf("%v", err)
	}
	for _, memory := range []int64{2 << 20, 8 << 20, 16 << 20} {
		s := onDevice(t, q, Options{Threads: 2, GPUMemory: memory})
		if len(s.Fallbacks) > 0 || len(s.Devices) != 1 || s.Devices[0].PeakMemory > memory {
			t.Errorf("%d bytes: %+v", memory, s)
		}
	}
}
