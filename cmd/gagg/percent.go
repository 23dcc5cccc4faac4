package main

import (
	"errors"
	"strconv"
	"strings"
)

// percent is a share of something, such as 10%. The zero value is no value.
type percent float64

func (p *percent) Type() string { return "percent" }

func (p *percent) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%"
}

// Set reads a number, with or without the sign %.
func (p *percent) Set(text string) error {
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || !(n > 0 && n <= 100) {
		return errors.New("want a share of the rows such as 10% or 0.5%")
	}
	*p = percent(n)
	return nil
}
