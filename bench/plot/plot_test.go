package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// wellFormed fails the test if an XML reader stumbles over the file.
func wellFormed(t *testing.T, svg []byte) string {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return string(svg)
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
}

// A place without a value interrupts the line; a reason given for it is marked.
func TestGaps(t *testing.T) {
	c := Chart{
		Title: "a < b", XTitle: "threads", Places: []string{"1", "2", "4", "8", "16"},
		Lines: []Line{{Name: "x & y", Values: []float64{1, 2, 0, math.NaN(), 4}, None: []string{"", "", "", "no memory"}}},
	}
	svg := wellFormed(t, c.SVG())
	for mark, want := range map[string]int{"<circle": 3, "×</text>": 1, "<title>no memory</title>": 1, "a &lt; b": 1} {
		if got := strings.Count(svg, mark); got != want {
			t.Errorf("%d times %q, want %d, in\n%s", got, mark, want, svg)
		}
	}
	if !strings.Contains(svg, `d="M117.0 290.0L231.0 230.0M573.0 110.0"`) {
		t.Errorf("the line is not interrupted at the third place in\n%s", svg)
	}
}

// On a logarithmic axis equal ratios are equal distances, and the ticks are
// powers of ten.
func TestLogarithmicAxis(t *testing.T) {
	c := Chart{Places: []string{"1", "2", "3"}, Log: true, Lines: []Line{{Values: []float64{3, 30, 300}}}}
	s := c.scale()
	if s != (scale{1, 1000}) || len(s.ticks()) != 4 {
		t.Errorf("axis %v with ticks %v, want 1 to 1000 with 4", s, s.ticks())
	}
	if a, b := s.y(3)-s.y(30), s.y(30)-s.y(300); math.Abs(a-b) > 1e-9 || a <= 0 {
		t.Errorf("a factor of ten is %v high, then %v", a, b)
	}
}

// Charts without any value, or with one value for all, still have an axis.
func TestFlat(t *testing.T) {
	for _, values := range [][]float64{nil, {7}, {1, 1}} {
		for _, log := range []bool{false, true} {
			c := Chart{Places: []string{"a", "b"}, Log: log, Lines: []Line{{Values: values}}}
			if s := c.scale(); s.high <= s.low {
				t.Errorf("%v, logarithmic %v: axis %v", values, log, s)
			}
			wellFormed(t, c.SVG())
		}
	}
}

// The axis ends at a round value above the highest.
func TestScale(t *testing.T) {
	for highest, want := range map[float64]float64{0: 5, 0.9: 1, 9: 10, 10: 12.5, 130: 250, 400: 500} {
		c := Chart{Places: []string{"a"}, Lines: []Line{{Values: []float64{highest}}}}
		if got := c.scale(); got != (scale{0, want}) {
			t.Errorf("highest %v: axis %v, want up to %v", highest, got, want)
		}
	}
}

func TestGrid(t *testing.T) {
	c := &Chart{Places: []string{"a"}, Lines: []Line{{Values: []float64{1}}}}
	svg := wellFormed(t, Grid(2, c, c, c))
	if !strings.Contains(svg, `width="1440" height="800"`) || strings.Count(svg, "<g ") != 3 {
		t.Errorf("three charts in two columns:\n%s", svg)
	}
}
