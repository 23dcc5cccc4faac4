package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{0: nil, 3: {9, 1, 3}, 2.5: {4, 1, 2, 3}} {
		if got := Median(values); got != want {
			t.Errorf("%v: %v, want %v", values, got, want)
		}
	}
}

// A mark is reached from its own side, and never by what was not measured.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		mark    Mark
		reached bool
		says    string
	}{
		{Mark{What: "rate", Got: 98, Want: 98}, true, "reached"},
		{Mark{What: "rate", Got: 97.9, Want: 98}, false, "MISSED"},
		{Mark{What: "launch", Got: 4, Want: 5, AtMost: true}, true, "reached"},
		{Mark{What: "launch", Got: 6, Want: 5, AtMost: true}, false, "MISSED"},
		{Mark{What: "launch", Want: 5, AtMost: true, None: true}, false, "not measured"},
	} {
		if got := c.mark.Reached(); got != c.reached {
			t.Errorf("%+v reached: %v", c.mark, got)
		}
		var out strings.Builder
		PrintMarks(&out, []Mark{c.mark})
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%+v is told without %q:\n%s", c.mark, c.says, out.String())
		}
	}
}

// Results lie in a folder named after the device; without a folder there are none.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	s := Setting{GPU: "NVIDIA H200 (MIG 1g)"}
	path, err := s.Save(dir, "x.json", []byte("{}"))
	if err != nil || path != filepath.Join(dir, "NVIDIA-H200-MIG-1g", "x.json") {
		t.Errorf("saved as %q, %v", path, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "{}" {
		t.Errorf("%q, %v", text, err)
	}
	if path, err := s.Save("", "x.json", nil); path != "" || err != nil {
		t.Errorf("without a folder: %q, %v", path, err)
	}
}
