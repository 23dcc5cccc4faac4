package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"
)

// Device is the facts about a device. To use it, take a context.
type Device struct {
	Ordinal int    // among the devices that the process sees
	Name    string // NVIDIA H200
	UUID    string // GPU-… or MIG-…; the same in every process and after a restart
	PCI     string // domain:bus:device.function
	Memory  Size

	Major, Minor int // compute capability

	Multiprocessors            int
	WarpSize                   int
	ThreadsPerBlock            int // at most
	ThreadsPerMultiprocessor   int // at most
	BlocksPerMultiprocessor    int // at most
	RegistersPerMultiprocessor int
	SharedPerBlock             Size // at most, with Function.SetDynamicShared
	SharedPerMultiprocessor    Size
	L2                         Size
	ClockKHz                   int // of the multiprocessors, at most; 0: not told
	MemoryClockKHz             int // 0: not told
	MemoryBusBits              int
	CopyEngines                int // copies that run at the same time as kernels
	Mode                       ComputeMode
	Integrated                 bool // its memory is the host's
	ECC                        bool // errors in its memory are corrected
	MIG                        bool // it is a slice of a larger one
	Timed                      bool // the system ends kernels that run for seconds
}

// ComputeMode is who may use a device.
type ComputeMode int

// The numbers are the driver's.
const (
	ComputeDefault    ComputeMode = 0
	ComputeProhibited ComputeMode = 2 // nobody
	ComputeExclusive  ComputeMode = 3 // one process at a time
)

// Exclusive reports whether one process may use the device at a time.
func (d Device) Exclusive() bool { return d.Mode == ComputeExclusive }

func (m ComputeMode) String() string {
	switch m {
	case ComputeDefault:
		return "default"
	case ComputeProhibited:
		return "prohibited"
	case ComputeExclusive:
		return "exclusive process"
	}
	return fmt.Sprintf("mode %d", int(m))
}

// attribute is a number of CUdevice_attribute.
type attribute uintptr

const (
	attributeThreadsPerBlock            attribute = 1
	attributeWarpSize                   attribute = 10
	attributeClock                      attribute = 13
	attributeMultiprocessors            attribute = 16
	attributeTimeout                    attribute = 17
	attributeIntegrated                 attribute = 18
	attributeComputeMode                attribute = 20
	attributeECC                        attribute = 32
	attributeMemoryClock                attribute = 36
	attributeMemoryBus                  attribute = 37
	attributeL2                         attribute = 38
	attributeThreadsPerMultiprocessor   attribute = 39
	attributeCopyEngines                attribute = 40
	attributeMajor                      attribute = 75
	attributeMinor                      attribute = 76
	attributeSharedPerMultiprocessor    attribute = 81
	attributeRegistersPerMultiprocessor attribute = 82
	attributeSharedPerBlock             attribute = 97
	attributeBlocksPerMultiprocessor    attribute = 106
)

const deviceTextBytes = 256

// Devices are all devices that the process sees, in the driver's order.
func (d *Driver) Devices() ([]Device, error) {
	n, err := d.deviceCount()
	if err != nil {
		return nil, err
	}
	devices := make([]Device, 0, n)
	for ordinal := range n {
		q, err := d.query(ordinal)
		if err != nil {
			return nil, err
		}
		devices = append(devices, q)
	}
	return devices, nil
}

// query asks for the facts about one device.
func (d *Driver) query(ordinal int) (Device, error) {
	q := inquiry{driver: d, ordinal: ordinal}
	q.handle = q.word(cuDeviceGet, uintptr(ordinal))
	device := Device{
		Ordinal: ordinal, Name: q.text(cuDeviceGetName), PCI: q.text(cuDeviceGetPCIBusID),
		Memory: Size(q.word(cuDeviceTotalMem, q.handle)),
		Major:  q.number(attributeMajor), Minor: q.number(attributeMinor),
		Multiprocessors:            q.number(attributeMultiprocessors),
		WarpSize:                   q.number(attributeWarpSize),
		ThreadsPerBlock:            q.number(attributeThreadsPerBlock),
		ThreadsPerMultiprocessor:   q.number(attributeThreadsPerMultiprocessor),
		BlocksPerMultiprocessor:    q.number(attributeBlocksPerMultiprocessor),
		RegistersPerMultiprocessor: q.number(attributeRegistersPerMultiprocessor),
		SharedPerBlock:             Size(q.number(attributeSharedPerBlock)),
		SharedPerMultiprocessor:    Size(q.number(attributeSharedPerMultiprocessor)),
		L2:                         Size(q.number(attributeL2)),
		ClockKHz:                   q.optional(attributeClock),
		MemoryClockKHz:             q.optional(attributeMemoryClock),
		MemoryBusBits:              q.number(attributeMemoryBus),
		CopyEngines:                q.number(attributeCopyEngines),
		Mode:                       ComputeMode(q.number(attributeComputeMode)),
		Integrated:                 q.number(attributeIntegrated) != 0,
		ECC:                        q.number(attributeECC) != 0,
		Timed:                      q.number(attributeTimeout) != 0,
	}
	device.MIG = strings.Contains(device.Name, " MIG ") // NVIDIA A100-SXM4-40GB MIG 1g.5gb
	device.UUID = q.uuid(device.MIG)
	return device, q.err
}

// Usable says why gagg cannot use the device; nil: nothing speaks against it.
// Whether another process holds it shows when a context is made.
func (d Device) Usable() error {
	what := fmt.Sprintf("device %d (%s)", d.Ordinal, d.Name)
	switch {
	case d.Mode == ComputeProhibited:
		return &Error{Op: what, Text: "its compute mode is prohibited", class: ErrBusy}
	case d.Major < minCapability:
		return &Error{Op: what, Text: fmt.Sprintf("it has compute capability %d.%d, gagg needs %s", d.Major, d.Minor, minArchitecture), class: ErrUnsupported}
	}
	return nil
}

// inquiry asks for one fact after another, and keeps the first error.
type inquiry struct {
	driver  *Driver
	ordinal int
	handle  uintptr
	err     error
}

func (q *inquiry) check(f symbol, r code) {
	if q.err == nil {
		q.err = q.driver.start(f, r, fmt.Sprintf("ask about device %d", q.ordinal))
	}
}

func (q *inquiry) word(f symbol, argument uintptr) uintptr {
	if q.err != nil {
		return 0
	}
	var word out
	q.check(f, q.driver.library.call(f, uintptr(unsafe.Pointer(&word)), argument))
	return uintptr(word.word)
}

func (q *inquiry) number(a attribute) int {
	if q.err != nil {
		return 0
	}
	n, r := q.attribute(a)
	q.check(cuDeviceGetAttribute, r)
	return n
}

// optional is a number that NVIDIA means to take out of the driver; 0: it has.
func (q *inquiry) optional(a attribute) int {
	if n, r := q.attribute(a); r != invalidValue {
		q.check(cuDeviceGetAttribute, r)
		return n
	}
	return 0
}

func (q *inquiry) attribute(a attribute) (int, code) {
	var n out
	r := q.driver.library.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&n)), uintptr(a), q.handle)
	return int(n.int32()), r
}

func (q *inquiry) text(f symbol) string {
	if q.err != nil {
		return ""
	}
	var text [deviceTextBytes]byte
	q.check(f, q.driver.library.call(f, uintptr(unsafe.Pointer(&text)), deviceTextBytes-1, q.handle))
	if end := bytes.IndexByte(text[:], 0); end >= 0 {
		return string(text[:end])
	}
	return string(text[:])
}

func (q *inquiry) uuid(mig bool) string {
	if q.err != nil {
		return ""
	}
	var u [16]byte
	q.check(cuDeviceGetUUID, q.driver.library.call(cuDeviceGetUUID, uintptr(unsafe.Pointer(&u)), q.handle))
	prefix := "GPU"
	if mig {
		prefix = "MIG"
	}
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", prefix, u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
