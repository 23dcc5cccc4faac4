// Command gen compiles the CUDA sources of internal/kernels to PTX and writes
// their launch functions.
package main

func main() {}
