// Package reference holds what of papers 000 and 001 no query uses, nothing of which is in the
// program: [HostPool], the twin of gpumem's page pool for pages in host memory; [Slabs], the host
// side of SlabAlloc; and [Steps], what the analysis of paper 000 says of the pool's methods. Tests
// compare them with kernels, and bench/pages measures them.
package reference
