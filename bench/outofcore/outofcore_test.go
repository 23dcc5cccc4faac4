package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/bench/device"
)

func TestTally(t *testing.T) {
	var c tally
	if err := c.add([]uint64{1, 2, 60, 3, 4, 40}); err != nil || c != (tally{groups: 2, rows: 100}) {
		t.Errorf("%+v, %v", c, err)
	}
	if err := c.check(100, 2); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"rows are missing":   c.check(101, 2),
		"a group is missing": tally{groups: 1, rows: 100}.check(100, 2),
		"too many groups":    tally{groups: 60, rows: 100}.check(100, 50),
	} {
		if err == nil {
			t.Errorf("%s and nobody says so", name)
		}
	}
	if err := (tally{groups: 40, rows: 100}).check(100, 50); err != nil {
		t.Errorf("not every group need be drawn: %v", err)
	}
}

// Streams are varied where that is asked for, in both ways.
func TestCases(t *testing.T) {
	a := amounts{streams: []int{2, 8}, varied: []uint64{7}}
	if got := a.cases(5); !slices.Equal(got, []testCase{{5, pinned, 2}, {5, pageable, 2}}) {
		t.Errorf("%+v", got)
	}
	if got := a.cases(7); len(got) != 4 || got[3] != (testCase{7, pageable, 8}) {
		t.Errorf("%+v", got)
	}
}

// The mark is that of the slowest number of groups, with the usual streams.
func TestMarks(t *testing.T) {
	r := report{Rows: 1e9, Link: 48}
	for _, c := range []struct {
		groups  uint64
		streams int
		first   float64
	}{{10, 2, 1}, {1e9, 2, 0.5}, {10, 8, 4}} {
		r.Lines = append(r.Lines, line{testCase{c.groups, pinned, c.streams}, figures{First: c.first}})
	}
	marks := r.marks()
	if len(marks) != 1 || marks[0].Got != 50 || !strings.Contains(marks[0].What, "the slowest: 10 groups") {
		t.Fatalf("%+v", marks)
	}
	device.PrintMarks(t.Output(), marks)
	if table := string(r.table()); !strings.Contains(table, "| 10 | pinned | 8 | 4.000 | 6 | 12.5 | 0.000 |") {
		t.Error(table)
	}
}

func TestLists(t *testing.T) {
	list := []uint64{5}
	for _, c := range []struct {
		text string
		want []uint64
	}{{"", []uint64{5}}, {"1e3,20", []uint64{1000, 20}}, {"-", nil}} {
		if err := listOf(&list, c.text); err != nil || !slices.Equal(list, c.want) {
			t.Errorf("%q: %v, %v", c.text, list, err)
		}
	}
	if listOf(&list, "many") == nil {
		t.Error("many is a number")
	}
}
