package cuda

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// Driver is the driver of this process.
type Driver struct {
	library *library
	version int

	mu        sync.Mutex
	primaries map[uintptr]*primary // by their handle; those with a Context that is open
}

// opened is the driver once Open succeeded. A failure is not kept: a driver may
// be mended while a program runs.
var opened struct {
	sync.Mutex
	driver *Driver
}

// Open loads and starts the driver. It does so once in a process, which takes
// 0.2 s on a machine with a GPU and almost nothing on others; later calls return
// the same Driver. It is kept for ever: the driver cannot be stopped. The classes
// of its errors are ErrNoDriver, ErrOldDriver, ErrNotReady, ErrNoDevice and
// ErrBusy.
func Open() (*Driver, error) {
	opened.Lock()
	defer opened.Unlock()
	if opened.driver != nil {
		return opened.driver, nil
	}
	d, err := open(libraryName())
	if err == nil {
		opened.driver = d
	}
	return d, err
}

// Exclusive reports whether the process, if it has opened the driver, sees a device that one
// process may use at a time. It opens nothing, and waits for nobody who does.
func Exclusive() bool {
	if !opened.TryLock() {
		return false
	}
	defer opened.Unlock()
	if opened.driver == nil {
		return false
	}
	devices, err := opened.driver.Devices()
	return err == nil && slices.ContainsFunc(devices, Device.Exclusive)
}

func open(name string) (*Driver, error) {
	l, version, err := loadLibrary(name)
	if err != nil {
		return nil, err
	}
	d := &Driver{library: l, version: version}
	if err := d.start(cuInit, l.call(cuInit, 0), "start the driver"); err != nil {
		return nil, err
	}
	return d, nil
}

// start makes r an error of the time before there is a context.
func (d *Driver) start(f symbol, r code, what string) error {
	if r == success {
		return nil
	}
	e := d.failure(f, r, what, starting[r])
	if errors.Is(e, ErrOldDriver) {
		e.Text += installedVersions()
	}
	return e
}

// Version is the version of CUDA that the driver supports: 1000 × major + 10 ×
// minor.
func (d *Driver) Version() int { return d.version }

// Library is the name under which the driver was opened.
func (d *Driver) Library() string { return d.library.name }

// VersionText is a version of CUDA for people: 13.0.
func VersionText(version int) string {
	return fmt.Sprintf("%d.%d", version/1000, version%1000/10)
}

// deviceCount is how many devices the process sees.
func (d *Driver) deviceCount() (int, error) {
	var n out
	r := d.library.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n)))
	return int(n.int32()), d.start(cuDeviceGetCount, r, "count the devices")
}
