package feedback

import "testing"

func TestBucketGain(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		rows, groups uint64
		want         float64
	}{{0, 0, 0}, {100, 100, 1}, {300, 100, 3}} {
		if got := BucketGain(x.rows, x.groups); got != x.want {
			t.Errorf("%d rows of %d groups: %v, want %v", x.rows, x.groups, got, x.want)
		}
	}
}
