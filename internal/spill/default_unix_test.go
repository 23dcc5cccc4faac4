//go:build unix

package spill

import "testing"

// $TMPDIR is the user's word; without it files go to disk, not to /tmp.
func TestDefaultDir(t *testing.T) {
	t.Setenv("TMPDIR", "/somewhere")
	if got := DefaultDir(); got != "/somewhere" {
		t.Errorf("with TMPDIR: %s", got)
	}
	t.Setenv("TMPDIR", "")
	if got := DefaultDir(); got != "/var/tmp" && got != "/tmp" {
		t.Errorf("without TMPDIR: %s", got)
	}
}
