package gputest

import "testing"

// Keep makes something, ends the test if that fails, and closes what was made
// at the end of the test.
func Keep[T interface{ Close() error }](tb testing.TB, open func() (T, error)) T {
	tb.Helper()
	made, err := open()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := made.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return made
}

// Make makes something that needs no closing, and ends the test if that fails.
func Make[T any](tb testing.TB, open func() (T, error)) T {
	tb.Helper()
	made, err := open()
	if err != nil {
		tb.Fatal(err)
	}
	return made
}
