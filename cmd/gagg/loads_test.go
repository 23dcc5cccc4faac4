package main

import "testing"

func TestLoads(t *testing.T) {
	for text, want := range map[string]loads{
		"0.5,0.75":   {0.5, 0.75},
		" 0 , 1 ":    {0, 1},
		"2.5e-1,0.9": {0.25, 0.9},
	} {
		var got loads
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0.5", "0.5,", ",0.5", "a,b", "0.1,0.2,0.3"} {
		var got loads
		if err := got.Set(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
