package plot

import "math"

// scale is the y axis: values from low to high. Logarithmic where low is not 0.
type scale struct{ low, high float64 }

// scale fits the axis to the values: from 0 to a round value with a tenth of
// room above, or from one power of ten to another.
func (c *Chart) scale() scale {
	low, high := math.Inf(1), 0.0
	for n := range c.Lines {
		for i := range c.Places {
			if l := &c.Lines[n]; l.has(i) {
				low, high = min(low, l.Values[i]), max(high, l.Values[i])
			}
		}
	}
	switch {
	case high == 0:
		return scale{0, ticks}
	case c.Log:
		from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		return scale{math.Pow(10, from), math.Pow(10, max(to, from+1))}
	}
	return scale{0, roundUp(high*1.1/ticks) * ticks}
}

// roundUp is the next value that reads well: 1, 2, 2.5 or 5 times a power of 10.
func roundUp(step float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, round := range []float64{1, 2, 2.5, 5} {
		if round*power >= step {
			return round * power
		}
	}
	return 10 * power
}

// ticks are the values that get a line and a number.
func (s scale) ticks() (values []float64) {
	if s.low > 0 {
		// ten times ten is not quite a hundred everywhere
		for v := s.low; v <= s.high*1.001; v *= 10 {
			values = append(values, v)
		}
		return values
	}
	for i := range ticks + 1 {
		values = append(values, s.high*float64(i)/ticks)
	}
	return values
}

func (s scale) y(value float64) float64 {
	share := value / s.high
	if s.low > 0 {
		share = math.Log(value/s.low) / math.Log(s.high/s.low)
	}
	return top + innerH*(1-share)
}
