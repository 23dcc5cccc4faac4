package image

import (
	"slices"
	"strings"
	"testing"
)

// twoKernels is PTX as the generator leaves it. One kernel uses a variable and a function, which
// uses another variable; both kernels use the dynamic shared memory.
const twoKernels = `.version 6.3
.target sm_70
.address_size 64
.weak .func  (.param .b32 func_retval0) gather_all
(
	.param .b64 gather_all_param_0
)
;
.weak .shared .align 4 .b8 counts[128];
.extern .shared .align 16 .b8 dynamic[];
.weak .shared .align 8 .u64 before;
.weak .shared .align 8 .u64 nobodys;
.visible .entry one(
	.param .u64 one_param_0
)
.maxntid 512, 1, 1
.minnctapersm 2
{
	mov.u64 %rd1, counts;
	mov.u64 %rd1, dynamic;
	call.uni (retval0), gather_all, (param0);
	ret;
}
.visible .entry one_more()
{
	mov.u64 %rd1, dynamic;
	ret;
}
.weak .func  (.param .b32 func_retval0) gather_all(
	.param .b64 gather_all_param_0
)
{
	mov.u64 %rd1, before;
	ret;
}
`

// Each kernel has what it names, in the order of the source, and nothing of the other one.
func TestParts(t *testing.T) {
	parts := Parts([]byte(twoKernels), names)
	for i, want := range [][]string{
		{".version", ".target", ".address_size", ".func", "counts", "dynamic", "before", "one", ".maxntid", ".minnctapersm", ".func"},
		{".version", ".target", ".address_size", "dynamic", "one_more"},
	} {
		var got []string
		for line := range strings.Lines(string(parts[i])) {
			if line[0] != '.' {
				continue
			}
			j := slices.IndexFunc(want[len(got):], func(w string) bool { return strings.Contains(line, w) })
			if j != 0 {
				t.Fatalf("%s: line %q after %q, want %q", names[i], line, got, want)
			}
			got = append(got, want[len(got)])
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", names[i], got, want)
		}
	}
}
