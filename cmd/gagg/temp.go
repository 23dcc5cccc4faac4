package main

import (
	"cmp"
	"errors"

	"github.com/gagg-dev/gagg"
)

// tempBytes is --temp-limit in bytes, 0 for none.
func (s *settings) tempBytes() (int64, error) {
	if s.tempLimit.percent == 0 {
		return s.tempLimit.bytes, nil
	}
	dir := cmp.Or(s.tempDir, gagg.DefaultTempDir())
	free, err := freeSpace(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return 0, usagef("--temp-limit %s: this system does not tell how much space is free; give a size such as 100GiB", &s.tempLimit)
	}
	if err != nil {
		return 0, usagef("--temp-limit %s: how much space is free in %s cannot be told (%v); give a size such as 100GiB", &s.tempLimit, dir, err)
	}
	return max(s.tempLimit.of(free), 1), nil // 0 would be no limit
}
