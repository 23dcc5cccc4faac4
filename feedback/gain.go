package feedback

// GainCounts is what a pass knows of its table while rows already leave the device. Rows that are
// under way are not counted: it is not known yet where they go.
type GainCounts struct {
	Rows   uint64 // that the table has combined or had no slot for
	Rest   uint64 // rows of these that had no slot
	Groups uint64 // in the table
}

// Expected is BucketGain as it will be behind `left` more rows, of which as large a share finds its
// group in the table as of those so far. (Of those that came when it was empty few did, so it is
// rather more. But the rows that found an empty slot count for nothing: where each row is a group
// of its own there is no gain, however many of them still find one.) It hardly has groups more.
func (f GainCounts) Expected(left uint64) float64 {
	if f.Groups == 0 {
		return 0
	}
	combined := f.Rows - min(f.Rest, f.Rows)
	found := float64(combined-min(f.Groups, combined)) / float64(max(f.Rows, 1))
	return (float64(combined) + found*float64(left)) / float64(f.Groups)
}
