package gagg

import (
	"context"

	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/exec"
)

// GPUs is devices that are kept open, so that runs need not wait for them: opening
// the driver and a device takes 0.2 s. Runs find them by Options.GPUs.
//
// What a run has made on a device the next one finds there: streams, events, up to 512 MiB of
// pinned host memory a device, and up to a quarter of the device's memory. A run with a limit of
// one of these kinds of memory frees what is kept of it first, so that the process stays within the
// limit.
//
// Of the devices "auto" and "gpu" a run that is given them uses the first that is open. Then "auto"
// chooses between it and the CPU without the time that opening takes.
type GPUs struct{ set *device.Set }

// OpenGPUs opens devices: "gpu" is the first usable one, numbers such as "0,1" are those. The
// caller closes them after the last run that was given them. Errors: ErrUsage, ErrDevice, and that
// of ctx, should it end first.
func OpenGPUs(ctx context.Context, devices string) (_ *GPUs, err error) {
	defer func() { err = exec.Classify(err) }()
	d, err := device.Parse(devices)
	if err != nil || !d.Required() {
		return nil, exec.Usagef("open GPUs: device %q: want gpu, or device numbers such as 0,1", devices)
	}
	set, err := device.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return &GPUs{set}, nil
}

// Close lets go of the devices. A second call does nothing.
func (g *GPUs) Close() error { return g.set.Close() }

// devices is those that are open; nil: there are none.
func (g *GPUs) devices() *device.Set {
	if g == nil {
		return nil
	}
	return g.set
}
