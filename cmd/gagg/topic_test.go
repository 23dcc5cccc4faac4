package main

import (
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// Each name in the language or on the command line has help of its own, and none sends its reader
// elsewhere.
func TestTopics(t *testing.T) {
	flags := flagSet(&settings{})
	topics := []string{"sum(x)", "count(*)", "count(distinct x)", "percentile_cont", "date_trunc()", "GAGG_DEBUG", "gagg_limit", "DECIMAL"}
	for _, c := range topicCandidates(flags) {
		topics = append(topics, c.text)
	}
	for _, f := range gagg.Forms() {
		topics = append(append(topics, f.Name, firstWord(f.Name)), f.Also...)
	}
	for _, o := range gagg.Operators() {
		topics = append(append(topics, o.Name), o.Also...)
	}
	for _, typ := range gagg.CastTypes() {
		topics = append(append(topics, typ.Name), typ.Casts...)
	}
	for _, fn := range gagg.Functions() {
		topics = append(append(topics, fn.Name), fn.Also...)
	}
	for _, a := range gagg.Aggregates() {
		topics = append(append(topics, a.Name), a.Also...)
	}
	for _, topic := range topics {
		switch text := explainTopic(flags, topic); {
		case text == "":
			t.Errorf("help %s says nothing", topic)
		case strings.Contains(text, "below") || strings.Contains(text, "docs/") || strings.ContainsAny(text, "`"):
			t.Errorf("help %s sends elsewhere: %s", topic, text)
		}
	}
	for _, format := range strings.Fields("parquet csv tsv json ndjson arrow markdown table none") {
		if text := explainTopic(flags, format); !strings.Contains(text, "format "+format+": ") {
			t.Errorf("help %s: %s", format, text)
		}
	}
}
