package streams

import "time"

// Kind is what an Interval was spent with.
type Kind int

const (
	Waiting    Kind = iota // a producer waited for a slot
	Filling                // a producer filled a slot: between Slot and Submit
	CopyingIn              // on the link, and waiting there for the copies of other lanes
	Computing              // kernels, and waiting for those of other lanes
	CopyingOut             // as CopyingIn
	Delivering             // in Job.Deliver
)

// String is the name of k for people.
func (k Kind) String() string {
	return [...]string{"wait for a slot", "fill", "copy in", "kernels", "copy out", "deliver"}[k]
}

// Interval is a piece of a pipeline's time. Those of one row of a drawing, which
// Kind and Stream, or Slot, make, do not overlap, except for Waiting: two producers
// may wait at once, and get the same slot one after the other.
type Interval struct {
	Kind Kind
	// of the lane, from 0; -1 for Waiting and Filling, which belong to producers
	Stream int
	Slot   int // of Waiting and Filling: the slot that was got or filled
	Job    int // in the order of submission, from 0; -1 for Waiting and Filling
	// since the pipeline began; the device's times drift against the host's by some µs a minute
	From   time.Duration
	Length time.Duration
	Bytes  int // that were filled, copied or delivered
}

// StreamStats is the sum of what one lane has done. Copies and kernels, which
// overlap, are timed by the device, if Config.Timed; the others by the lane.
type StreamStats struct {
	Stages            int // jobs that it has under way at once; 0: there was no room for the lane
	Jobs              int // delivered
	BytesIn, BytesOut int64

	CopyIn, Kernels, CopyOut time.Duration
	Deliver                  time.Duration
	Idle                     time.Duration // waiting for a job with none under way
}

// Stats is what a pipeline has and has done.
type Stats struct {
	Streams       []StreamStats
	Slots         int // that it has
	PageableSlots int // of these: not pinned, so that their copies are slow
	Submitted     int // jobs
	Returned      int // of these: not delivered

	Wait, Fill time.Duration // of all producers together: for slots, and between Slot and Submit

	Refused []error // why memory was refused at the start; the pipeline runs without it
}

// Stats is complete once Finish has returned.
func (p *Pipeline) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Returned = len(p.returned)
	return s
}

// now is the time since the pipeline began.
func (p *Pipeline) now() time.Duration { return time.Since(p.begin) }

func (p *Pipeline) trace(i Interval) {
	if p.config.Trace != nil {
		p.config.Trace(i)
	}
}

// waited accounts for a producer's wait.
func (p *Pipeline) waited(slot int, from, to time.Duration) {
	p.mu.Lock()
	p.stats.Wait += to - from
	p.mu.Unlock()
	p.trace(Interval{Kind: Waiting, Stream: -1, Slot: slot, Job: -1, From: from, Length: to - from})
}

// filled accounts for the time in which a producer had the slot.
func (p *Pipeline) filled(s *Slot, n int) {
	length := p.now() - s.taken
	p.mu.Lock()
	p.stats.Fill += length
	p.mu.Unlock()
	p.trace(Interval{Kind: Filling, Stream: -1, Slot: s.index, Job: -1, From: s.taken, Length: length, Bytes: n})
}

// account adds up what a delivered job took; its delivery began at from.
func (l *lane) account(s *Stage, e *entry, from time.Duration) error {
	st := l.stats
	delivering := Interval{Kind: Delivering, Stream: l.number, Job: e.number, From: from, Length: l.pipeline.now() - from, Bytes: len(s.result)}
	st.Jobs++
	st.BytesIn += int64(e.size)
	st.BytesOut += int64(len(s.result))
	st.Deliver += delivering.Length
	if l.pipeline.config.Timed {
		if err := l.accountDevice(s, e); err != nil {
			return err
		}
	}
	l.pipeline.trace(delivering)
	return nil
}

func (l *lane) accountDevice(s *Stage, e *entry) error {
	st := l.stats
	for i, of := range [steps]struct {
		kind  Kind
		total *time.Duration
		bytes int
	}{
		stepIn:      {CopyingIn, &st.CopyIn, e.size},
		stepCompute: {Computing, &st.Kernels, e.size},
		stepOut:     {CopyingOut, &st.CopyOut, len(s.result)},
	} {
		length, err := s.steps[i].took()
		if err != nil {
			return err
		}
		*of.total += length
		if l.pipeline.config.Trace == nil {
			continue
		}
		from, err := s.steps[i].began(l)
		if err != nil {
			return err
		}
		l.pipeline.trace(Interval{Kind: of.kind, Stream: l.number, Job: e.number, From: from, Length: length, Bytes: of.bytes})
	}
	return nil
}
