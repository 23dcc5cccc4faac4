package exec

import "testing"

// Each event takes a run to the phase that the table says, and no other event does anything; every
// row of the table is walked.
func TestPhases(t *testing.T) {
	type row struct {
		from phase
		by   event
	}
	walked := map[row]bool{}
	for _, x := range []struct {
		events []event
		want   phase
		void   bool // the first reading is not used any more
	}{
		{nil, scanning, false},
		{[]event{failed}, scanning, false},
		{[]event{grouped}, output, false},
		{[]event{grouped, grouped}, output, false},
		{[]event{grouped, failed}, output, false},
		{[]event{deviceLost}, rescanning, true},
		{[]event{deviceLost, deviceLost}, rescanning, true},
		{[]event{deviceLost, grouped}, outputByCPU, true},
		{[]event{deviceLost, failed}, ended, true},
		{[]event{grouped, deviceLost}, regrouping, true},
		{[]event{grouped, deviceLost, deviceLost}, regrouping, true},
		{[]event{grouped, deviceLost, grouped}, outputByCPU, true},
		{[]event{grouped, deviceLost, failed}, ended, true},
		{[]event{deviceLost, grouped, deviceLost}, outputByCPU, true},
		{[]event{deviceLost, grouped, failed}, outputByCPU, true},
		{[]event{deviceLost, failed, grouped}, ended, true},
	} {
		var m machine
		for _, e := range x.events {
			before := m.phase()
			next, stepped := m.step(e)
			if next != m.phase() || stepped != (next != before) {
				t.Errorf("%v: from %v to %v, stepped %t, but the phase is %v", x.events, before, next, stepped, m.phase())
			}
			if stepped {
				walked[row{before, e}] = true
			}
		}
		if m.phase() != x.want || m.phase().void() != x.void {
			t.Errorf("%v: %v, void %t; want %v, %t", x.events, m.phase(), m.phase().void(), x.want, x.void)
		}
	}
	for from, events := range transitions {
		for by := range events {
			if !walked[row{from, by}] {
				t.Errorf("nothing above takes a run from %v by event %d", from, by)
			}
		}
	}
}
