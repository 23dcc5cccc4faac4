package plan

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Learnt is what earlier runs of the query have found out. A plan rests on hints of the input,
// which may be wrong; a run that sees this ends, and the next plan is made with what was learnt.
// Learnt only grows, so there are few runs. The zero value knows nothing.
type Learnt struct {
	Digits map[int]int // by column of the schema: the least number of digits of its decimals
	Nulls  bool        // a column has NULLs that is said to have none
	Ranges bool        // a column has values beyond its statistics

	Windows map[int]agg.Window // by argument: where digits of its values were met
	Special bool               // there are NaN or infinities
	Widened int                // how often that was learnt

	Device    bool // workers have seen that a device pays
	Uncounted bool // workers have seen that values come too seldom to be counted

	Text  int64 // bytes of the longest text
	Read  int64 // bytes that reading takes beside those of usual pages
	Alone bool  // no plan for several threads has room for such texts; one for one thread may
}

// What ends a run of which workers have seen that another one would be faster.
var (
	// ErrDevicePays: with a device
	ErrDevicePays = errors.New("a run with a device is predicted to be faster")
	// ErrUncounted: values that the run has begun to count are not counted
	ErrUncounted = errors.New("values that are counted come too seldom")
)

// Add adds what an error tells, and reports whether that is anything new. A type is widened a few
// times at most.
func (l *Learnt) Add(err error) (more bool) {
	if errors.Is(err, cpu.ErrFilled) && !l.Nulls {
		l.Nulls, more = true, true
	}
	if errors.Is(err, cpu.ErrRange) && !l.Ranges {
		l.Ranges, more = true, true
	}
	if errors.Is(err, ErrDevicePays) && !l.Device {
		l.Device, more = true, true
	}
	if errors.Is(err, ErrUncounted) && !l.Uncounted {
		l.Uncounted, more = true, true
	}
	var outside *agg.WindowError
	if errors.As(err, &outside) {
		l.addWindows(outside)
		more = true
	}
	var wider *parquetio.PrecisionError
	if errors.As(err, &wider) {
		if l.Digits == nil {
			l.Digits = map[int]int{}
		}
		for field, n := range wider.Digits {
			if n > l.Digits[field] {
				l.Digits[field], more = n, true
			}
		}
	}
	return more
}

// addTexts adds the length of a text that err has.
func (l *Learnt) addTexts(err error) {
	var page *parquetio.MemoryError
	if errors.As(err, &page) && page.Value > 0 {
		l.Text = max(l.Text, page.Value)
		l.Read = max(l.Read, page.All+page.All/8+1<<20)
	}
	var row *cpu.LargeError
	if errors.As(err, &row) {
		l.Text = max(l.Text, row.Text)
	}
	var long *longError
	if errors.As(err, &long) {
		l.Text = max(l.Text, long.text)
	}
}

// longError ends a run: a text is too long for its plan, and a better plan exists.
type longError struct{ text int64 }

func (e *longError) Error() string { return "there are texts of " + MiB(e.text) }

// leastLong is the length from which on a text needs a plan with room for it. Any plan has room for
// shorter ones.
const leastLong = 1 << 20

// moreBy is the factor by which a length must have grown for another run to be worth it, which
// bounds how many runs there are.
const moreBy = 1.25

// ObserveText is called with the length of each long text while the input is read. If the memory of
// this plan may not be enough to merge or to put out groups with such texts, and another plan has
// enough, the error ends the run at once. If there is no such plan the run goes on, and may
// succeed.
func (p *Plan) ObserveText(text int64) error {
	if text < leastLong {
		return nil
	}
	l := p.Learnt
	l.Text = max(l.Text, text)
	if n := p.largeNeeds(l.Text); p.Memory.Merge >= n.merge && p.Memory.Sort >= n.sort || !p.better(l) {
		return nil
	}
	return &longError{text}
}

// better reports whether a plan made with l may succeed where this one, made with less, did not.
func (p *Plan) better(l Learnt) bool {
	was := p.Learnt
	if !p.Rereadable || float64(l.Text) <= moreBy*float64(was.Text) && float64(l.Read) <= moreBy*float64(was.Read) {
		return false
	}
	_, _, ok := p.planLarge(p.Memory.Limit, p.Threads, l)
	return ok
}

// Retry adds to l what the error of a run tells about texts, and reports whether another plan may
// succeed. If not, it returns the error to report: where memory was refused because of long texts,
// a NeedError with the limit that is enough.
func (p *Plan) Retry(l *Learnt, err error) (bool, error) {
	if l.addTexts(err); l.Text < leastLong {
		l.Text = 0
	}
	if p.better(*l) {
		return true, err
	}
	if l.Text > 0 && p.Threads > 1 && p.Rereadable && !l.Alone {
		l.Alone = true
		return true, err
	}
	return false, p.TextError(*l, err)
}

// TextError turns a refusal of memory into a NeedError with the limit that is enough for the
// longest text that was observed. Other errors stay as they are.
func (p *Plan) TextError(l Learnt, err error) error {
	var need *NeedError
	if err == nil || l.Text == 0 || errors.As(err, &need) || !errors.Is(err, budget.Memory) {
		return err
	}
	enough := p.metadata + p.TextNeed(l)
	if limit := p.Options.MemoryLimit; enough <= limit { // it should have been enough
		enough = limit + limit/8
	}
	return &NeedError{Limit: p.Options.MemoryLimit, Need: enough, Result: "there are texts of up to " + MiB(l.Text)}
}

// Longest is l with the longest text of a run. Texts for which any plan has room do not matter.
func (l Learnt) Longest(text int64) Learnt {
	if text >= leastLong {
		l.Text = max(l.Text, text)
	}
	return l
}

// TextNeed is a limit that leaves room for the longest text that was observed, without the metadata
// of the input; 0: no text was long.
func (p *Plan) TextNeed(l Learnt) int64 {
	if l.Text == 0 {
		return 0
	}
	return p.largeNeed(l)
}

// ResultNeed is a limit that is enough for a group with that many bytes of values and of its
// result.
func (p *Plan) ResultNeed(l Learnt, values, result int64) int64 {
	return p.metadata + max(p.Memory.needFor(p.Threads, values, result), p.TextNeed(l))
}
