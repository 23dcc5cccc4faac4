package cuda

// symbol is a function of the driver.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUUID
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDeviceGetPCIBusID
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxGetCurrent
	cuCtxSetCurrent
	cuCtxSynchronize
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemHostRegister
	cuMemHostUnregister
	cuMemHostGetDevicePointer
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuMemsetD32Async
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuLaunchKernel
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	symbolCount
)

// symbols are the names in the library and the numbers of arguments. cuda.h
// maps cuMemAlloc to cuMemAlloc_v2 and so on; the library still has the old
// functions, with other types, under the old names.
var symbols = [symbolCount]struct {
	name string
	args int
}{
	cuInit:             {"cuInit", 1},
	cuDriverGetVersion: {"cuDriverGetVersion", 1},
	cuGetErrorName:     {"cuGetErrorName", 2},
	cuGetErrorString:   {"cuGetErrorString", 2},
	cuDeviceGetCount:   {"cuDeviceGetCount", 1},
	cuDeviceGet:        {"cuDeviceGet", 2},
	cuDeviceGetName:    {"cuDeviceGetName", 3},
	// of a MIG slice its own; the newest of all: CUDA 11.4
	cuDeviceGetUUID:           {"cuDeviceGetUuid_v2", 2},
	cuDeviceTotalMem:          {"cuDeviceTotalMem_v2", 2},
	cuDeviceGetAttribute:      {"cuDeviceGetAttribute", 3},
	cuDeviceGetPCIBusID:       {"cuDeviceGetPCIBusId", 3},
	cuDevicePrimaryCtxRetain:  {"cuDevicePrimaryCtxRetain", 2},
	cuDevicePrimaryCtxRelease: {"cuDevicePrimaryCtxRelease_v2", 1},
	cuCtxGetCurrent:           {"cuCtxGetCurrent", 1},
	cuCtxSetCurrent:           {"cuCtxSetCurrent", 1},
	cuCtxSynchronize:          {"cuCtxSynchronize", 0},
	cuMemGetInfo:              {"cuMemGetInfo_v2", 2},
	cuMemAlloc:                {"cuMemAlloc_v2", 2},
	cuMemFree:                 {"cuMemFree_v2", 1},
	cuMemHostAlloc:            {"cuMemHostAlloc", 3},
	cuMemFreeHost:             {"cuMemFreeHost", 1},
	cuMemHostRegister:         {"cuMemHostRegister_v2", 3},
	cuMemHostUnregister:       {"cuMemHostUnregister", 1},
	cuMemHostGetDevicePointer: {"cuMemHostGetDevicePointer_v2", 3},
	cuMemcpyHtoDAsync:         {"cuMemcpyHtoDAsync_v2", 4},
	cuMemcpyDtoHAsync:         {"cuMemcpyDtoHAsync_v2", 4},
	cuMemcpyDtoDAsync:         {"cuMemcpyDtoDAsync_v2", 4},
	cuMemsetD8Async:           {"cuMemsetD8Async", 4},
	cuMemsetD32Async:          {"cuMemsetD32Async", 4},
	cuStreamCreate:            {"cuStreamCreate", 2},
	cuStreamDestroy:           {"cuStreamDestroy_v2", 1},
	cuStreamSynchronize:       {"cuStreamSynchronize", 1},
	cuStreamQuery:             {"cuStreamQuery", 1},
	cuStreamWaitEvent:         {"cuStreamWaitEvent", 3},
	cuEventCreate:             {"cuEventCreate", 2},
	cuEventDestroy:            {"cuEventDestroy_v2", 1},
	cuEventRecord:             {"cuEventRecord", 2},
	cuEventSynchronize:        {"cuEventSynchronize", 1},
	cuEventQuery:              {"cuEventQuery", 1},
	cuEventElapsedTime:        {"cuEventElapsedTime", 3}, // its _v2 came with CUDA 12.8
	cuModuleLoadDataEx:        {"cuModuleLoadDataEx", 5},
	cuModuleUnload:            {"cuModuleUnload", 1},
	cuModuleGetFunction:       {"cuModuleGetFunction", 3},
	cuFuncGetAttribute:        {"cuFuncGetAttribute", 3},
	cuFuncSetAttribute:        {"cuFuncSetAttribute", 3},
	cuLaunchKernel:            {"cuLaunchKernel", 11},

	cuOccupancyMaxActiveBlocksPerMultiprocessor: {"cuOccupancyMaxActiveBlocksPerMultiprocessor", 4},
}

// minVersion is the oldest driver that has them all, and its name for people.
const (
	minVersion      = 11040
	minDriverText   = "CUDA 11.4 (driver 470) or newer"
	minCapability   = 7 // compute capability 7.0: Volta; the kernels are compiled for sm_70
	minArchitecture = "compute capability 7.0 (Volta, 2017) or newer"
)
