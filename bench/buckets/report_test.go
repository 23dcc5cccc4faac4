package main

import (
	"strings"
	"testing"
)

// A line with passes is compared with the CPU's before it.
func TestTable(t *testing.T) {
	r := report{Points: []point{
		{testCase{Bits: 4, Repeats: 10, Mergers: 2}, figures{Rate: 50, Groups: 7}},
		{testCase{Bits: 4, Repeats: 10, Mergers: 2, Passes: 1, Memory: 64 << 20}, figures{Rate: 100, Groups: 7, Device: .5}},
	}}
	if err := r.agree(); err != nil {
		t.Error(err)
	}
	want := "| 2 | 16 | 10 | 1 | 64 MiB | 100 | 0 | 2 | 50 % | 0 | 0 | 0 % |\n"
	if got := string(r.table()); !strings.HasSuffix(got, want) {
		t.Errorf("table:\n%s\nwant at its end:\n%s", got, want)
	}
	r.Points[1].Groups++
	if r.agree() == nil {
		t.Error("different numbers of groups agree")
	}
}

// Cases of the same rows and mergers follow each other, the CPU's first.
func TestCases(t *testing.T) {
	cpu := testCase{}
	for i, c := range small.cases() {
		if c.Passes == 0 {
			cpu = c
		}
		same := c
		same.Passes, same.Memory = 0, 0
		if same != cpu || c.Passes > c.Mergers {
			t.Errorf("case %d is %+v, behind %+v", i, c, cpu)
		}
	}
}
