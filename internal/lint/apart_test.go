package lint

import (
	"slices"
	"strings"
	"testing"
)

// The packages in which the CPU groups, aggregates and merges: none of them, nor any that they
// import, is part of the device layer (docs/decisions/0017-cpu-and-gpu-apart.md).
var withoutDevice = []string{"internal/cpu", "internal/agg", "partition", "internal/input"}

// The device layer, with what lies below these folders. ega/combine is data that both engines
// share.
var deviceLayer = []string{
	"ega", "gpumem", "streams", "partition/ondevice", "internal/cuda", "internal/decode", "internal/device", "internal/gpu",
	"internal/kernels",
}

func TestTheCPUKnowsNoDevice(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range module(t) {
		for _, imp := range p.Imports {
			if dir, ours := inModule(imp); ours {
				imports[p.dir()] = append(imports[p.dir()], dir)
			}
		}
	}
	for _, dir := range withoutDevice {
		if len(imports[dir]) == 0 {
			t.Errorf("%s imports nothing of ours: is there such a package?", dir)
		}
		if path := pathToDevice(imports, []string{dir}, map[string]bool{}); path != nil {
			t.Errorf("%s", strings.Join(path, " imports "))
		}
	}
}

// pathToDevice is the imports that lead from a package to the device layer, after the packages of
// path; nil: there are none.
func pathToDevice(imports map[string][]string, path []string, seen map[string]bool) []string {
	last := path[len(path)-1]
	if inDeviceLayer(last) {
		return path
	}
	if seen[last] {
		return nil
	}
	seen[last] = true
	for _, imp := range imports[last] {
		if found := pathToDevice(imports, append(slices.Clone(path), imp), seen); found != nil {
			return found
		}
	}
	return nil
}

func inDeviceLayer(dir string) bool {
	return dir != "ega/combine" && slices.ContainsFunc(deviceLayer, func(top string) bool {
		return dir == top || strings.HasPrefix(dir, top+"/")
	})
}
