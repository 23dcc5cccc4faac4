package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// loads is the value of --load-factor. The zero value is no value. The library checks which loads
// make sense.
type loads [2]float64

func (l *loads) Type() string { return "loads" }

func (l *loads) String() string {
	if *l == (loads{}) {
		return ""
	}
	return fmt.Sprintf("%g,%g", l[0], l[1])
}

// Set reads two numbers, such as 0.5,0.75.
func (l *loads) Set(text string) error {
	first, second, _ := strings.Cut(text, ",")
	a, errA := strconv.ParseFloat(strings.TrimSpace(first), 64)
	b, errB := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if errA != nil || errB != nil {
		return errors.New("want two loads such as 0.5,0.75")
	}
	*l = loads{a, b}
	return nil
}
