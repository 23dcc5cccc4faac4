package bounded

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What a wait was for is the last that is said of it.
func TestWaitInVain(t *testing.T) {
	if os.Getenv("BOUNDED_TEST_HANGS") == "1" {
		Receive(t, "a message that nobody sends", make(chan int))
		return
	}
	// all but a second of which is left for the end
	c := Command(t, os.Args[0], "-test.run=^TestWaitInVain$", "-test.timeout=21s")
	c.Env = append(os.Environ(), "BOUNDED_TEST_HANGS=1")
	began := time.Now()
	out, err := c.CombinedOutput()
	if err == nil || time.Since(began) > 15*time.Second || !strings.Contains(string(out), "waited 1s in vain for a message that nobody sends") {
		t.Errorf("%v, %s", err, out)
	}
}

// A process that does not end fails the test that started it, and is ended.
func TestCommandInVain(t *testing.T) {
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Skip("no command that waits")
	}
	if os.Getenv("BOUNDED_TEST_HANGS") == "1" {
		_ = Command(t, "sleep", "3600").Run()
		return
	}
	c := Command(t, os.Args[0], "-test.run=^TestCommandInVain$", "-test.timeout=21s")
	c.Env = append(os.Environ(), "BOUNDED_TEST_HANGS=1")
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `in vain for the end of ["sleep" "3600"]`) {
		t.Errorf("%v, %s", err, out)
	}
}

// Goroutines of which one never says how it ended are waited for no longer than others.
func TestErrorsInVain(t *testing.T) {
	one := errors.New("one")
	c := make(chan error, 2)
	c <- one
	c <- nil
	if err := Errors("two", 2, c); err == nil || err.Error() != "one" {
		t.Errorf("%v", err)
	}
	c <- one
	err := errorsWithin(time.Millisecond, "two", 2, c)
	if !errors.Is(err, one) || !strings.Contains(err.Error(), "waited 1ms in vain for two") {
		t.Errorf("%v", err)
	}
	ctx, cancel := Context("a slot")
	defer cancel()
	if end, ok := ctx.Deadline(); !ok || time.Until(end) > most {
		t.Errorf("a context that ends at %v, %t", end, ok)
	}
}
