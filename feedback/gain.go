package feedback

// GainFacts is what a pass knows of its table while rows already leave the device.
type GainFacts struct {
	Rows   uint64 // that it was given so far
	Rest   uint64 // of them: that found no slot
	Since  uint64 // of them: those behind the first that found none
	Groups uint64 // in the table
}

// Expected is BucketGain as it will be behind `left` more rows: as many of them as since the table is full find their
// group there. It hardly has groups more.
func (f GainFacts) Expected(left uint64) float64 {
	if f.Groups == 0 {
		return 0
	}
	found := 0.0
	if f.Since > 0 {
		found = 1 - min(float64(f.Rest)/float64(f.Since), 1)
	}
	return (float64(f.Rows-min(f.Rest, f.Rows)) + found*float64(left)) / float64(f.Groups)
}
