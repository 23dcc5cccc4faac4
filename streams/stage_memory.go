package streams

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// stageMemory is the device memory of a lane's stages. It is one piece, since
// each takes the driver more than a millisecond while other threads are busy:
//
//	input │ facts │ scratch │ input │ facts │ scratch │ …      each aligned
//	stage 0                 │ stage 1
//
// A kernel that writes past the end of a part writes into the next one there,
// and nobody sees it. So under -tags invariant each part is a piece as long as
// the part: then the emulator knows where it ends, and so does
// compute-sanitizer.
type stageMemory struct {
	pieces []*cuda.Memory
	drawn  int // bytes
	stages []stageSpans
}

// stageSpans is the device memory of a stage.
type stageSpans struct{ input, facts, scratch cuda.Span }

// allocate takes the memory of as many of the lane's stages as there is room
// for, and returns how many.
func (m *stageMemory) allocate(l *lane) (stages int, err error) {
	for n := l.pipeline.config.Depth; ; n-- {
		if err = m.allocateFor(l, n); err == nil || n == 1 || !refused(err) {
			return n, err
		}
		l.pipeline.refuse(err)
	}
}

// allocateFor takes the memory of n stages, or none.
func (m *stageMemory) allocateFor(l *lane, n int) error {
	p := l.pipeline
	bytes := n * p.config.stageBytes()
	if err := p.device.Draw(int64(bytes)); err != nil {
		return err
	}
	m.drawn = bytes
	place := m.inOne
	if invariant.Enabled {
		place = m.apart
	}
	if err := place(l.thread, &p.config, n); err != nil {
		return errors.Join(err, m.free(p))
	}
	return nil
}

func (m *stageMemory) inOne(t *cuda.Thread, c *Config, n int) error {
	all, err := m.alloc(t, cuda.Size(n*c.stageBytes()))
	if err != nil {
		return err
	}
	at := cuda.Size(0)
	part := func(bytes int) cuda.Span {
		span := all.Slice(at, at+cuda.Size(bytes))
		at += aligned(bytes)
		return span
	}
	for range n {
		m.stages = append(m.stages, stageSpans{part(c.SlotBytes), part(int(factBytes)), part(c.ScratchBytes)})
	}
	return nil
}

func (m *stageMemory) apart(t *cuda.Thread, c *Config, n int) error {
	for range n {
		var s stageSpans
		for _, part := range []struct {
			to    *cuda.Span
			bytes cuda.Size
		}{{&s.input, cuda.Size(c.SlotBytes)}, {&s.facts, factBytes}, {&s.scratch, cuda.Size(c.ScratchBytes)}} {
			var err error
			if *part.to, err = m.alloc(t, part.bytes); err != nil {
				return err
			}
		}
		m.stages = append(m.stages, s)
	}
	return nil
}

// alloc allocates a piece, unless it is empty.
func (m *stageMemory) alloc(t *cuda.Thread, bytes cuda.Size) (cuda.Span, error) {
	if bytes == 0 {
		return cuda.Span{}, nil
	}
	piece, err := t.Alloc(bytes)
	if err != nil {
		return cuda.Span{}, err
	}
	m.pieces = append(m.pieces, piece)
	return piece.Span(), nil
}

// free gives everything back; what a lost context holds stays counted.
func (m *stageMemory) free(p *Pipeline) error {
	var err error
	for _, piece := range m.pieces {
		err = errors.Join(err, piece.Close())
	}
	if len(m.pieces) == 0 || p.context.Lost() == nil {
		p.device.Release(int64(m.drawn))
	}
	*m = stageMemory{}
	return err
}
