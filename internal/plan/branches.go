package plan

import (
	"fmt"
	"strings"
)

// JoinDevices is the decision for a query whose branches have such plans (internal/query/branch.go),
// each of them a run of its own: devices are used if they are asked for, or if with them all
// branches together are predicted to take less than on the CPU. The first branch opens the devices.
func JoinDevices(branches []*Plan) Device {
	d := branches[0].Device
	all := Choice{Use: d.Facts.Spec.Required(), Reason: d.Reason}
	predicted := true
	for _, b := range branches {
		c := b.Device.Choice
		predicted = predicted && c.CPU > 0
		all.CPU, all.Device = all.CPU+c.CPU, all.Device+min(c.CPU, c.Device)
	}
	if !d.Facts.Spec.Required() {
		all.Use = predicted && all.Device < all.CPU*(1-d.costs.Gain)
		all.Reason = fmt.Sprintf("predicted: CPU %s, GPU %s in %d runs", seconds(all.CPU), seconds(all.Device), len(branches))
	}
	d.Choice, d.Reconsiders, d.Select, d.Wanted = all, false, nil, ""
	var runs []string
	for _, b := range branches {
		runs = append(runs, strings.Join(b.Query.CallTexts, ", "))
	}
	d.Regroups = fmt.Sprintf("there is a run for each of %s, and the CPU joins their groups", strings.Join(runs, " and "))
	return d
}
