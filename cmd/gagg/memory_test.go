package main

import (
	"testing"
	"testing/fstest"
)

func TestMemoryAllowed(t *testing.T) {
	const meminfo = "MemTotal:       16777216 kB\nMemFree:         1000 kB\n" // 16 GiB
	for _, c := range []struct {
		protects string
		files    map[string]string
		want     int64
	}{
		{"a system that tells nothing", nil, 0},
		{"no control group", map[string]string{"proc/meminfo": meminfo}, 16 << 30},
		{
			"a container with version 2 sees its group as the root",
			map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n"},
			1 << 30,
		},
		{
			"a limit of a group above, and none of its own",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/jobs/7\n",
				"sys/fs/cgroup/jobs/7/memory.max": "max\n", "sys/fs/cgroup/jobs/memory.max": "2147483648\n",
			},
			2 << 30,
		},
		{
			"version 1",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n",
				"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1073741824\n",
			},
			1 << 30,
		},
		{
			"version 1, a limit of a group above",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/jobs/7\n",
				"sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/jobs/memory.limit_in_bytes":   "2147483648\n",
			},
			2 << 30,
		},
		{
			"version 1 in a container, which does not see the groups above its own",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/jobs/7\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
				"sys/fs/cgroup/memory/memory.stat":           "cache 4096\nhierarchical_memory_limit 3221225472\ntotal_cache 4096\n",
			},
			3 << 30,
		},
		{
			"version 1 without a limit is a number beyond any machine",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
			},
			16 << 30,
		},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := memoryAllowed(files); got != c.want {
			t.Errorf("%s: %d, want %d", c.protects, got, c.want)
		}
	}
}
