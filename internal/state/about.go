package state

import (
	"encoding/json"
	"strings"
)

// longAbout is about how many bytes a query has that is told in full.
const longAbout = 200

// About is the query of a header, for messages: its aggregates, keys and filter.
func About(header string) string {
	var h Header
	if json.Unmarshal([]byte(header), &h) != nil {
		return "a query that cannot be read"
	}
	text := strings.Join(h.Query.Aggs, ", ")
	if text == "" {
		text = "no aggregates"
	}
	if len(h.Query.By) > 0 {
		text += " by " + strings.Join(h.Query.By, ", ")
	}
	if h.Query.Where != "" {
		text += " where " + h.Query.Where
	}
	if len(text) > longAbout {
		text = strings.ToValidUTF8(text[:longAbout], "") + " …"
	}
	return text
}
