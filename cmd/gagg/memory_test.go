package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

func TestMemoryAllowed(t *testing.T) {
	const machine = 16 << 30
	for _, c := range []struct {
		protects string
		total    int64
		files    map[string]string
		want     int64
	}{
		{"a system that tells nothing", 0, nil, 0},
		{"no control group", machine, nil, machine},
		{
			"a container with version 2 sees its group as the root",
			machine,
			map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"},
			1 << 30,
		},
		{
			"a limit of a group above, and none of its own",
			machine,
			map[string]string{
				"proc/self/cgroup":                "0::/jobs/7\n",
				"sys/fs/cgroup/jobs/7/memory.max": "max\n", "sys/fs/cgroup/jobs/memory.max": "2147483648\n",
			},
			2 << 30,
		},
		{
			"version 1",
			machine,
			map[string]string{
				"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n",
				"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1073741824\n",
			},
			1 << 30,
		},
		{
			"version 1, a limit of a group above",
			machine,
			map[string]string{
				"proc/self/cgroup": "4:memory:/jobs/7\n",
				"sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":   "2147483648\n",
			},
			2 << 30,
		},
		{
			"version 1 in a container, which does not see the groups above its own",
			machine,
			map[string]string{
				"proc/self/cgroup":                           "4:memory:/jobs/7\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/memory.stat":           "cache 4096\nhierarchical_memory_limit 3221225472\ntotal_cache 4096\n",
			},
			3 << 30,
		},
		{
			"version 1 without a limit is a number beyond any machine",
			machine,
			map[string]string{
				"proc/self/cgroup":                           "4:memory:/\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			},
			machine,
		},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memoryAllowed(files, c.total); got != c.want {
			t.Errorf("%s: %d, want %d", c.protects, got, c.want)
		}
	}
}

// The files of the kernel are read whole, and a missing file is an error.
func TestSystemFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	const name = "proc/self/maps" // more than one read returns
	want, err := os.ReadFile("/" + name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fs.ReadFile(systemFiles(), name)
	if err != nil || len(got) < len(want)/2 || bytes.Count(got, []byte("\n")) < 20 || !bytes.HasSuffix(got, []byte("\n")) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	if _, err := fs.ReadFile(systemFiles(), "proc/self/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if got := totalMemory(); got < 64*mib {
		t.Errorf("the machine has %d bytes of memory", got)
	}
}
