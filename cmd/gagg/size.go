package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
)

// size is the value of --memory-limit and --temp-limit: bytes, or a share of
// what there is. The zero value is no value.
type size struct {
	bytes   int64
	percent float64 // 0: bytes counts
}

func (s *size) Type() string { return "size" }

func (s *size) String() string {
	switch {
	case s.percent != 0:
		return fmt.Sprintf("%g%%", s.percent)
	case s.bytes != 0:
		return humanize.IBytes(uint64(s.bytes))
	}
	return ""
}

// Set reads 4GB (4·10^9), 4GiB (4·2^30), a number of bytes, or 60%.
func (s *size) Set(text string) error {
	if number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%"); isPercent {
		var percent float64
		if _, err := fmt.Sscanf(number+"\n", "%g\n", &percent); err != nil || !(percent > 0 && percent <= 100) {
			return fmt.Errorf("a percentage must be more than 0%% and at most 100%%")
		}
		*s = size{percent: percent}
		return nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("want a size such as 4GiB, 500MB or 60%%")
	}
	*s = size{bytes: int64(n)}
	return nil
}

// of is the size in bytes where there are so many.
func (s size) of(all int64) int64 {
	if s.percent == 0 {
		return s.bytes
	}
	return int64(float64(all) * s.percent / 100)
}
