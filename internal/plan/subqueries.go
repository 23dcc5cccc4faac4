package plan

import "fmt"

// JoinDevices is the decision for a query whose subqueries have such plans
// (internal/query/subquery.go), each of them a run of its own: devices are used if they are asked
// for, or if with them all subqueries together are predicted to take less than on the CPU. The
// first one opens the devices.
func JoinDevices(subqueries []*Plan) Device {
	d := subqueries[0].Device
	all := Choice{Use: d.Facts.Spec.Required(), Reason: d.Reason}
	predicted := true
	for _, s := range subqueries {
		c := s.Device.Choice
		predicted = predicted && c.CPU > 0
		all.CPU, all.Device = all.CPU+c.CPU, all.Device+min(c.CPU, c.Device)
	}
	if !d.Facts.Spec.Required() {
		all.Use = predicted && all.Device < all.CPU*(1-d.costs.Gain)
		all.Reason = fmt.Sprintf("predicted: CPU %s, GPU %s in %d runs", seconds(all.CPU), seconds(all.Device), len(subqueries))
	}
	d.Choice, d.Reconsiders, d.Select, d.Wanted = all, false, nil, ""
	d.Regroups = "there is a run for each subquery, and the CPU joins their groups"
	return d
}
