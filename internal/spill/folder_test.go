package spill

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
)

// entries lists a folder, and everything below it.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func mkdir(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// deadName is a name of a private directory that no process has.
var deadName = prefix + strings.Repeat("0a", 16)

// Nothing exists before the first file, or after Close, not even when files
// were not closed.
func TestLazyAndGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, Config{Dir: dir})
	if got := entries(t, dir); len(got) != 0 {
		t.Fatalf("before the first file there are %v", got)
	}
	for range 3 {
		f := openFile(t, s)
		if _, err := f.Append([]byte("x"), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := entries(t, dir); len(got) == 0 || unlinkOpen && len(got) != 2 {
		t.Fatalf("while files are open there are %v, want the directory and its lock", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); len(got) != 0 {
		t.Fatalf("after Close there are %v", got)
	}
	if s.Used() != 0 {
		t.Fatalf("after Close %d bytes are in use", s.Used())
	}
}

// F2: a probe works where a file would, and fails where it would not.
func TestProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, Config{Dir: dir, Limit: 1})
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(); err != nil {
		t.Fatalf("the second time: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, dir); len(got) != 0 {
		t.Fatalf("a probe leaves %v", got)
	}
}

// F2, F8: folders that no file may be put in are refused, as wrong usage.
func TestUnusableFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "file"))
	mkdir(t, filepath.Join(dir, "open"), 0o777)
	for _, c := range []struct{ name, why string }{
		{"missing", "does not exist"},
		{"missing/deeper", "does not exist"},
		{"file", "is not a folder"},
		{"file/deeper", "is not a folder"},
		{"open", "sticky bit"},
	} {
		for what, err := range map[string]error{
			"Probe": openSpace(t, Config{Dir: filepath.Join(dir, c.name)}).Probe(),
			"File":  fileError(openSpace(t, Config{Dir: filepath.Join(dir, c.name)})),
		} {
			if !errors.Is(err, ErrUsage) || errors.Is(err, ErrExhausted) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s in %s: %v, want that it %s", what, c.name, err, c.why)
			}
		}
	}
	mkdir(t, filepath.Join(dir, "sticky"), 0o777|os.ModeSticky)
	if err := openSpace(t, Config{Dir: filepath.Join(dir, "sticky")}).Probe(); err != nil {
		t.Errorf("a folder like /tmp: %v", err)
	}
}

func fileError(s *Space) error {
	_, err := s.File()
	return err
}

// F5: what a dead process left is removed, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dead := mkdir(t, filepath.Join(dir, deadName), 0o700)
	touch(t, filepath.Join(dead, lockName))
	touch(t, filepath.Join(dead, fileName(3)))
	// died before it made its lock file
	unlocked := prefix + strings.Repeat("1b", 16)
	mkdir(t, filepath.Join(dir, unlocked), 0o700)
	strange := mkdir(t, filepath.Join(dir, prefix+strings.Repeat("2c", 16)), 0o700)
	touch(t, filepath.Join(strange, "letters.txt"))
	for _, name := range []string{"gagg-notes", "gagg-" + strings.Repeat("0", 30), "other", "gagg-" + strings.Repeat("x", 32)} {
		touch(t, filepath.Join(mkdir(t, filepath.Join(dir, name), 0o700), fileName(1)))
	}
	touch(t, filepath.Join(dir, prefix+strings.Repeat("3d", 16))) // a file

	live := openSpace(t, Config{Dir: dir})
	openFile(t, live)
	before := entries(t, filepath.Join(dir, live.private.name))
	if err := openSpace(t, Config{Dir: dir}).Probe(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, filepath.Join(dir, live.private.name)); len(got) != len(before) {
		t.Errorf("of a live space %v is left of %v", got, before)
	}
	left := strings.Join(entries(t, dir), " ")
	for _, name := range []string{deadName, unlocked} {
		if strings.Contains(left, name) {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range []string{"letters.txt", "gagg-notes/1.spill", "other/1.spill", "3d3d"} {
		if !strings.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
	}
}

// F6: spaces come and go in one folder, each sweeping while others are
// between making and locking their directories. Every one of them works.
func TestSweepRaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 40 {
				s, err := Open(Config{Dir: dir})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Probe(); err != nil {
					t.Error(err)
				}
				if _, err := s.File(); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("%v are left", got)
	}
}

// The steps of a sweep and of making a directory in the orders that matter:
// a directory taken for an orphan is made anew.
func TestMakeBeatenBySweep(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"made", "opened", "locked"} {
		dir := t.TempDir()
		folder, err := osFS{}.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		beaten := &beatenDir{Dir: folder, when: when}
		p, err := makePrivate(beaten)
		if err != nil {
			t.Fatalf("swept after it was %s: %v", when, err)
		}
		if beaten.sweeps != 1 {
			t.Fatalf("swept %d times", beaten.sweeps)
		}
		if got := entries(t, dir); len(got) != 2 || got[0] != p.name {
			t.Errorf("swept after it was %s: there are %v", when, got)
		}
		if err := p.remove(); err != nil {
			t.Error(err)
		}
		folder.Close()
	}
}

// beatenDir sweeps the folder once at the worst moment.
type beatenDir struct {
	Dir
	parent *beatenDir
	when   string
	sweeps int
}

func (d *beatenDir) sweep(when string) {
	top := d
	if d.parent != nil {
		top = d.parent
	}
	if top.when == when && top.sweeps == 0 {
		top.sweeps++
		sweep(top.Dir)
	}
}

func (d *beatenDir) Mkdir(name string) error {
	err := d.Dir.Mkdir(name)
	d.sweep("made")
	return err
}

func (d *beatenDir) OpenDir(name string) (Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	d.sweep("opened")
	if err != nil {
		return nil, err
	}
	return &beatenDir{Dir: sub, parent: d}, nil
}

func (d *beatenDir) Create(name string) (Handle, error) {
	h, err := d.Dir.Create(name)
	d.sweep("locked") // the file is there, its lock is not taken
	return h, err
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		deadName: true, prefix + hex.EncodeToString(make([]byte, 16)): true,
		prefix: false, prefix + "0": false, strings.Repeat("0", 32): false, deadName + "0": false,
	} {
		if got := isPrivateName(name); got != want {
			t.Errorf("isPrivateName(%q) = %t", name, got)
		}
	}
	for name, want := range map[string]bool{
		"0.spill": true, "17.spill": true, "4294967295.spill": true,
		"4294967296.spill": false, "01.spill": false, "+1.spill": false, ".spill": false, "1": false, "lock": false,
	} {
		if got := isFileName(name); got != want {
			t.Errorf("isFileName(%q) = %t", name, got)
		}
	}
}

// LOCKED: the lock of a file that the directory no longer names is worth
// nothing, whether there is no lock file or another one.
func TestClaimOfReplacedLock(t *testing.T) {
	t.Parallel()
	if !unlinkOpen {
		return // no file can be removed while it is open, and none is locked
	}
	dir, err := osFS{}.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	create := func() Handle {
		t.Helper()
		h, err := dir.Create(lockName)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h
	}
	old := create()
	if err := dir.Remove(lockName); err != nil {
		t.Fatal(err)
	}
	if mine, err := claim(dir, old); mine || !lostToSweep(err) {
		t.Errorf("of a removed file: %t, %v", mine, err)
	}
	now := create()
	if mine, err := claim(dir, old); mine || err != nil {
		t.Errorf("of a replaced file: %t, %v", mine, err)
	}
	if mine, err := claim(dir, now); !mine || err != nil {
		t.Errorf("of the file that is there: %t, %v", mine, err)
	}
}
