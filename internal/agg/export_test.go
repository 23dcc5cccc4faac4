package agg

// Name is the canonical name: mean for avg, stddev_samp for stddev.
func (f Func) Name() string { return signatures[f.id].name }
