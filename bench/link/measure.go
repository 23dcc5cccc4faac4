package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// figures are named values: of one round, or medians.
type figures map[string]float64

// measure runs the rounds: this program and the peer in turns.
func (r *report) measure(rig *device.Rig, rounds int, peer string) (err error) {
	b, err := newBuffers(rig.Thread, r.amounts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	ours, theirs := map[string][]float64{}, map[string][]float64{}
	for range rounds {
		round, err := b.round()
		if err != nil {
			return err
		}
		add(ours, round)
		if peer == "" {
			continue
		}
		if round, err = r.askPeer(peer); err != nil {
			return err
		}
		add(theirs, round)
	}
	r.Ours, r.Peer = medians(ours), medians(theirs)
	r.Ours["start/init"] = milliseconds(rig.Init) // only once in a process
	r.Ours["start/context"] = milliseconds(rig.Context)
	return nil
}

func add(to map[string][]float64, round figures) {
	for name, value := range round {
		to[name] = append(to[name], value)
	}
}

func medians(of map[string][]float64) figures {
	m := figures{}
	for name, values := range of {
		m[name] = device.Median(values)
	}
	return m
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// askPeer runs the program of link.cu, which prints lines of a name and a value.
func (r *report) askPeer(peer string) (figures, error) {
	args := []string{strconv.Itoa(r.repeats), strconv.Itoa(r.launches), strconv.Itoa(r.copied), strconv.Itoa(r.largest())}
	for _, size := range r.sizes {
		args = append(args, strconv.Itoa(size))
	}
	command := exec.Command(peer, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", peer, err)
	}
	round := figures{}
	for line := range bytes.Lines(out) {
		name, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if round[name], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("%s said %q: %w", peer, line, err)
		}
	}
	return round, nil
}

// buffers are what is copied between, one pair for each direction, so that both
// can be under way at once.
type buffers struct {
	amounts
	thread              *cuda.Thread
	empty               *kerneltest.Empty
	in, out             *cuda.Stream
	hostIn, hostOut     *cuda.Pinned
	deviceIn, deviceOut *cuda.Memory
	pageable            []byte
	opened              []interface{ Close() error }
}

func newBuffers(t *cuda.Thread, a amounts) (b *buffers, err error) {
	b = &buffers{amounts: a, thread: t, pageable: make([]byte, a.largest())}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.empty, err = kerneltest.LoadEmpty(t); err != nil {
		return nil, err
	}
	for _, s := range []**cuda.Stream{&b.in, &b.out} {
		if *s, err = opened(b, (*cuda.Thread).NewStream, t); err != nil {
			return nil, err
		}
	}
	size := cuda.Size(a.largest())
	for _, p := range []**cuda.Pinned{&b.hostIn, &b.hostOut} {
		if *p, err = opened(b, func(t *cuda.Thread) (*cuda.Pinned, error) { return t.AllocPinned(size) }, t); err != nil {
			return nil, err
		}
	}
	for _, m := range []**cuda.Memory{&b.deviceIn, &b.deviceOut} {
		if *m, err = opened(b, func(t *cuda.Thread) (*cuda.Memory, error) { return t.Alloc(size) }, t); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// opened makes something of the thread and remembers to close it.
func opened[T interface{ Close() error }](b *buffers, open func(*cuda.Thread) (T, error), t *cuda.Thread) (T, error) {
	x, err := open(t)
	if err == nil {
		b.opened = append(b.opened, x)
	}
	return x, err
}

func (b *buffers) close() error {
	var errs []error
	for i := len(b.opened) - 1; i >= 0; i-- {
		errs = append(errs, b.opened[i].Close())
	}
	return errors.Join(errs...)
}
