package cuda

// code is a result of the driver (CUresult). Those listed are the ones that
// this package acts on.
type code int32

const (
	success            code = 0
	invalidValue       code = 1
	outOfMemory        code = 2
	deinitialized      code = 4 // the process is ending
	stubLibrary        code = 34
	insufficientDriver code = 35
	deviceUnavailable  code = 46 // exclusive or prohibited compute mode
	noDevice           code = 100
	invalidDevice      code = 101
	invalidImage       code = 200
	invalidContext     code = 201
	contextInUse       code = 216
	noBinaryForGPU     code = 209
	eccUncorrectable   code = 214
	invalidPTX         code = 218
	nvlinkError        code = 220
	noJITCompiler      code = 221
	unsupportedPTX     code = 222
	jitDisabled        code = 223
	unsupportedSync    code = 225
	contained          code = 226 // a memory error that took only this process down
	invalidSource      code = 300
	operatingSystem    code = 304
	notReady           code = 600 // no error: the work has not ended
	illegalAddress     code = 700
	launchResources    code = 701
	launchTimeout      code = 702
	contextDestroyed   code = 709
	deviceAssert       code = 710
	hardwareStack      code = 714
	illegalInstruction code = 715
	misalignedAddress  code = 716
	invalidSpace       code = 717
	invalidPC          code = 718
	launchFailed       code = 719
	cooperativeTooBig  code = 720
	notSupported       code = 801
	systemNotReady     code = 802
	driverMismatch     code = 803
	compatibility      code = 804
	mpsConnection      code = 805
	mpsServer          code = 806
	mpsNotReady        code = 807
	mpsClients         code = 808
	mpsConnections     code = 809
	mpsTerminated      code = 810
	unknown            code = 999
)

// starting are the classes of codes that come before there is a context, where
// some mean something else than later.
var starting = map[code]error{
	stubLibrary:        ErrNoDriver,
	insufficientDriver: ErrOldDriver,
	driverMismatch:     ErrOldDriver,
	compatibility:      ErrOldDriver,
	noDevice:           ErrNoDevice,
	invalidDevice:      ErrNoDevice,
	deviceUnavailable:  ErrBusy,
	invalidContext:     ErrBusy,
	contextInUse:       ErrBusy,
	outOfMemory:        ErrOutOfMemory,
	operatingSystem:    ErrNotReady,
	systemNotReady:     ErrNotReady,
	mpsConnection:      ErrNotReady,
	mpsServer:          ErrNotReady,
	mpsNotReady:        ErrNotReady,
	mpsClients:         ErrBusy,
	mpsConnections:     ErrBusy,
	unknown:            ErrNotReady,
	eccUncorrectable:   ErrLost,
	nvlinkError:        ErrLost,
	contained:          ErrLost,
	contextDestroyed:   ErrLost,
	mpsTerminated:      ErrLost,
}

// running are the classes of codes that a context returns. What is neither here
// nor lost has no class: it is a mistake in a call.
var running = map[code]error{
	outOfMemory:       ErrOutOfMemory,
	deviceUnavailable: ErrBusy,
	invalidImage:      ErrUnsupported,
	noBinaryForGPU:    ErrUnsupported,
	invalidPTX:        ErrUnsupported,
	noJITCompiler:     ErrUnsupported,
	unsupportedPTX:    ErrUnsupported,
	jitDisabled:       ErrUnsupported,
	unsupportedSync:   ErrUnsupported,
	invalidSource:     ErrUnsupported,
	notSupported:      ErrUnsupported,
	launchResources:   ErrLaunch,
	cooperativeTooBig: ErrLaunch,
}

// kernelFault reports whether c says that a kernel went wrong. The driver
// returns it from whichever call comes next, of any stream.
func (c code) kernelFault() bool {
	switch c {
	case illegalAddress, launchTimeout, deviceAssert, hardwareStack, illegalInstruction, misalignedAddress,
		invalidSpace, invalidPC, launchFailed:
		return true
	}
	return false
}

// sticky reports whether c leaves a context of no use (invariant LOST).
func (c code) sticky() bool {
	switch c {
	case deinitialized, eccUncorrectable, nvlinkError, contained, contextDestroyed, mpsServer, mpsTerminated, unknown:
		return true
	}
	return c.kernelFault()
}
