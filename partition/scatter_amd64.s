#include "textflag.h"

// func scatter(free [][]uint64, hashes []uint64, step int, rows []uint64, stride int, skip, shift uint) (done int)
//
// Registers:
//
//	SI  free               AX  the row's bucket, in free
//	DI  the row's hash     BX  where the row goes
//	R8  the row            DX  a word of it
//	R9  rows that are left CX  skip, shift, words of the bucket's page that are left
//	R10 stride             R11 a word's number
//	R12 step in bytes      R13 stride in bytes
TEXT ·scatter(SB), NOSPLIT, $0-112
	MOVQ  free_base+0(FP), SI
	MOVQ  hashes_base+24(FP), DI
	MOVQ  step+48(FP), R12
	MOVQ  rows_base+56(FP), R8
	MOVQ  rows_len+64(FP), AX
	MOVQ  stride+80(FP), R10
	MOVQ  R10, R13
	SHLQ  $3, R12
	SHLQ  $3, R13
	XORL  DX, DX
	DIVQ  R10
	MOVQ  AX, R9
	MOVQ  AX, done+104(FP)
	TESTQ R9, R9
	JEQ   done

row:
	MOVQ (DI), AX
	MOVQ skip+88(FP), CX
	SHLQ CX, AX
	MOVQ shift+96(FP), CX
	DECQ CX
	SHRQ $1, AX               // a shift of 64 would be none
	SHRQ CX, AX
	LEAQ (AX)(AX*2), AX       // three words a slice
	LEAQ (SI)(AX*8), AX
	MOVQ (AX), BX
	MOVQ 8(AX), CX
	SUBQ R10, CX
	JCS  full
	MOVQ CX, 8(AX)
	SUBQ R10, 16(AX)          // the capacity
	PREFETCHT0 128(BX)        // in Go's assembler there is no PREFETCHW
	XORL R11, R11

word:
	MOVQ (R8)(R11*8), DX
	MOVQ DX, (BX)(R11*8)
	INCQ R11
	CMPQ R11, R10
	JNE  word
	ADDQ R13, R8
	ADDQ R12, DI

	// A slice without capacity stays where it is, as in Go: behind it may be another object.
	LEAQ    (BX)(R13*1), DX
	CMPQ    16(AX), $0
	CMOVQNE DX, BX
	MOVQ    BX, (AX)
	DECQ R9
	JNE  row

done:
	RET

full:
	SUBQ R9, done+104(FP)
	RET
