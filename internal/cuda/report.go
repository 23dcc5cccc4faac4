package cuda

import (
	"errors"
	"fmt"
	"os"
)

// Report is what there is of devices on a machine, for people.
type Report struct {
	Library string // that was opened, or tried
	Version int    // of CUDA; 0: the driver was not opened
	Devices []DeviceReport
	Err     error // why there are no devices; nil: there are some
}

// DeviceReport is a device and whether this process can use it now.
type DeviceReport struct {
	Device
	Free Size  // memory, for all processes
	Err  error // why it cannot be used
}

// Describe opens the driver and takes each device for a moment, which takes 0.1
// to 0.3 s for each.
func Describe() Report {
	r := Report{Library: libraryName()}
	driver, err := Open()
	if err != nil {
		r.Err = err
		return r
	}
	r.Library, r.Version = driver.Library(), driver.Version()
	devices, err := driver.Devices()
	if err == nil && len(devices) == 0 {
		err = &Error{Op: "count the devices", Text: "the driver sees none", class: ErrNoDevice}
	}
	r.Err = err
	for _, d := range devices {
		described := DeviceReport{Device: d}
		described.Free, described.Err = driver.free(d)
		r.Devices = append(r.Devices, described)
	}
	return r
}

// free is how much memory of a usable device is free.
func (d *Driver) free(device Device) (free Size, err error) {
	c, err := d.Context(device.Ordinal)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	t, err := c.Lock()
	if err != nil {
		return 0, err
	}
	defer t.Unlock()
	free, _, err = t.MemoryInfo()
	return free, err
}

// advices say what a person can do about each class of error.
var advices = []struct {
	class  error
	advice string
}{
	{ErrNoDriver, "install the NVIDIA driver, version 470 or newer; in a container, start it with the GPUs (docker run --gpus all)"},
	{ErrOldDriver, "update the NVIDIA driver to version 470 or newer and restart the machine; in a container, use the host's libcuda"},
	{ErrNotReady, "see whether nvidia-smi works; it needs the kernel module to be loaded, leave to open /dev/nvidia*, and on machines with NVSwitch the fabric manager"},
	{ErrNoDevice, "see whether nvidia-smi lists a device; where MIG is enabled, a slice has to be made first"},
	{ErrBusy, "wait for the process that holds the device, take another device, or set its compute mode to default (nvidia-smi -c 0)"},
	{ErrUnsupported, "use a GPU of " + minArchitecture + ", with a driver for " + minDriverText},
	{ErrOutOfMemory, "free memory of the device: nvidia-smi lists the processes that hold it"},
	{ErrLost, "start again; if it happens again, the kernel's log tells more (dmesg, lines with NVRM: Xid)"},
}

// Advice is one sentence about what to do about an error of this package; empty:
// nothing is known.
func Advice(err error) string {
	if hidden, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set && errors.Is(err, ErrNoDevice) {
		return fmt.Sprintf("CUDA_VISIBLE_DEVICES is %q, which hides all other devices: change or unset it", hidden)
	}
	if errors.Is(err, errNoGPU) {
		return "use a build for Linux on x86-64 or arm64, made without the build tag nogpu"
	}
	for _, a := range advices {
		if errors.Is(err, a.class) {
			return a.advice
		}
	}
	return ""
}
