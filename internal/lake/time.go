package lake

import (
	"strings"
	"time"
)

// ParseTime reads a time, of UTC where it does not say its zone.
func ParseTime(text string) (time.Time, bool) {
	text = strings.Replace(text, "T", " ", 1)
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		for _, zone := range []string{"", "Z07:00"} {
			if t, err := time.Parse(form+zone, text); err == nil { // with a fraction too
				return t, true
			}
		}
	}
	return time.Time{}, false
}
