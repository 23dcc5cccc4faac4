// Package kerneltest holds kernels that only tests and benchmarks launch: what
// shows the device layer at work (probe, fault, layout), how the device behaves
// (warp, block, memory), and the drivers and baselines of gpumem's tests and
// benchmarks. Sources, PTX and launch functions are as in package kernels, whose
// headers they use; go generate ./internal/kernels makes both.
package kerneltest
