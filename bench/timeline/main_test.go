package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Threads are lines in their order, spans are bars at their times, and names are text.
func TestSVG(t *testing.T) {
	var tr trace
	text := `{"traceEvents":[
		{"name":"thread_name","ph":"M","tid":2,"args":{"name":"worker <2>"}},
		{"name":"thread_sort_index","ph":"M","tid":2,"args":{"sort_index":9}},
		{"name":"thread_name","ph":"M","tid":1,"args":{"name":"run"}},
		{"name":"unit 1","ph":"X","tid":2,"ts":500000,"dur":500000},
		{"name":"output","ph":"X","tid":1,"ts":0,"dur":1}]}`
	if err := json.Unmarshal([]byte(text), &tr); err != nil {
		t.Fatal(err)
	}
	svg := tr.svg("a & b")
	for _, want := range []string{
		"a &amp; b", "worker &lt;2&gt;", "1.00 s",
		`<rect x="450.00" y="65" width="359.70" height="16" fill="#0072b2"><title>unit 1, 500.0 ms</title>`,
		`<rect x="90.00" y="43" width="0.33" height="16" fill="#d55e00">`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if strings.Index(svg, ">run<") > strings.Index(svg, ">worker") {
		t.Error("the lines are not in their order")
	}
}
