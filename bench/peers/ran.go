package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ran is what gagg's --stats say of where a query ran.
type ran struct {
	Device  string `json:"device"`
	Rows    int64  `json:"rows"`
	Devices []struct {
		Rows        int64 `json:"rows"`
		InCore      bool  `json:"in_core"`
		EvictedRows int64 `json:"evicted_rows"`
	} `json:"devices"`
	Encoded struct {
		Rows     int64 `json:"rows"`
		Declined int64 `json:"declined"`
	} `json:"encoded"`
	Fallbacks []struct {
		What, Why string
	} `json:"fallbacks"`
}

// whereRan tells in a few words what computed a query, from its --stats; "": nobody knows.
func whereRan(stats json.RawMessage) string {
	var r ran
	if len(stats) == 0 || json.Unmarshal(stats, &r) != nil {
		return ""
	}
	return r.String()
}

// String says who aggregated, who made the rows, where groups were that did not stay on a device,
// and why the CPU did what it did in place of one.
func (r ran) String() string {
	words := []string{"CPU"}
	if r.Device != "cpu" {
		words = r.onDevice()
	}
	for _, f := range r.Fallbacks {
		words = append(words, f.What+": "+f.Why)
	}
	return strings.Join(words, "; ")
}

func (r ran) onDevice() []string {
	made, inCore, evicted := int64(0), true, int64(0)
	for _, d := range r.Devices {
		made += d.Rows
		inCore = inCore && d.InCore
		evicted += d.EvictedRows
	}
	var words []string
	decoded := r.Encoded.Rows
	switch {
	case decoded >= r.Rows && r.Encoded.Declined == 0:
		words = append(words, "GPU, decoded there")
	case decoded > 0:
		words = append(words, fmt.Sprintf("GPU, %.0f %% decoded there", 100*float64(decoded)/float64(r.Rows)))
	case made > 0:
		words = append(words, "GPU, rows made by the CPU")
	default:
		words = append(words, "CPU, while the GPU started")
	}
	if evicted > 0 {
		words = append(words, fmt.Sprintf("%d rows left it", evicted))
	} else if !inCore {
		words = append(words, "groups by the CPU")
	}
	return words
}
