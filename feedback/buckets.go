package feedback

// DefaultBucketGain is the least gain from which on devices aggregate buckets. With a gain of 1
// (q10 of db-benchmark, 1e8 rows, 8 GiB of an H200) a device and 16 threads took 3.2 s for them,
// where the threads alone put as many groups out in 0.7 s (docs/experiments/0012). Where between 1
// and the gain of usual queries the two meet was not measured: half or twice as much decides
// otherwise only for groups of 1 to 4 rows.
const DefaultBucketGain = 2

// BucketGain is how many rows make a group, going by the rows that were combined into
// a table and the groups that it had then; 0: there were none. Rows that find no
// slot in a full table are those of rarer groups, and make more groups than that.
func BucketGain(rows, groups uint64) float64 {
	if groups == 0 {
		return 0
	}
	return float64(rows) / float64(groups)
}
