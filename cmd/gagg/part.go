package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg"
)

// rowPart is the value of --part: 3/8.
type rowPart struct{ gagg.Part }

func (p *rowPart) String() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Number, p.Of)
}

func (p *rowPart) Type() string { return "part" }

func (p *rowPart) Set(text string) error {
	number, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || i < 1 || i > n {
		return fmt.Errorf("want i/N, with i from 1 to N, such as 3/8")
	}
	p.Part = gagg.Part{Number: i, Of: n}
	return nil
}
