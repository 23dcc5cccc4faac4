package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// measurePeer runs the program made from cub.cu for the same numbers of groups. It
// prints "groups microseconds found" lines.
func (r *report) measurePeer(program string) error {
	args := []string{strconv.FormatUint(uint64(r.rows), 10), strconv.Itoa(r.rounds)}
	for _, groups := range r.groups {
		if groups <= uint64(r.rows)/2 {
			args = append(args, strconv.FormatUint(groups, 10))
		}
	}
	command := exec.Command(program, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return r.addPeer(out)
}

// addPeer adds what the peer printed. Groups found otherwise than by our strategies
// mean that the two did not aggregate the same.
func (r *report) addPeer(out []byte) error {
	var errs []error
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		p := point{Table: "groups", Strategy: nameCUB, Distribution: uniform.name}
		if _, err := fmt.Sscan(lines.Text(), &p.Groups, &p.Time, &p.Found); err != nil {
			errs = append(errs, fmt.Errorf("the peer says %q: %w", lines.Text(), err))
			continue
		}
		for _, ours := range r.of("groups", func(q *point) bool { return q.Groups == p.Groups && q.Failed == "" }) {
			if ours.Found != p.Found {
				errs = append(errs, fmt.Errorf("%d groups: the peer finds %d, %s %d", p.Groups, p.Found, ours.Strategy, ours.Found))
			}
		}
		r.Points = append(r.Points, p)
	}
	return errors.Join(errs...)
}
