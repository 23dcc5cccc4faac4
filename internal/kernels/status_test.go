package kernels

import (
	"errors"
	"strings"
	"testing"
)

func TestStatus(t *testing.T) {
	if err := StatusOk.Err(); err != nil {
		t.Errorf("ok is the error %v", err)
	}
	for s := StatusOk + 1; int(s) < len(statusNames); s++ {
		if err := s.Err(); !errors.Is(err, s) || !strings.Contains(err.Error(), statusMeanings[s]) || s.String() != statusNames[s] {
			t.Errorf("status %d: %v, %v", s, err, s)
		}
	}
	unknown := Status(len(statusNames))
	if unknown.Err() == nil || !strings.Contains(unknown.Error(), "unknown") || unknown.String() == "" {
		t.Errorf("a status out of range: %v, %q", unknown.Err(), unknown)
	}
}
