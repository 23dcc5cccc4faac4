#include "textflag.h"

// func prefetchRows(rows []uint64, stride, span int, gids []uint32)
TEXT ·prefetchRows(SB), NOSPLIT, $0-64
	MOVQ  rows_base+0(FP), SI
	MOVQ  stride+24(FP), R8
	MOVQ  span+32(FP), R9
	MOVQ  gids_base+40(FP), DI
	MOVQ  gids_len+48(FP), CX
	SHLQ  $3, R8
	TESTQ CX, CX
	JEQ   done

row:
	MOVL       (DI), AX
	ADDQ       $4, DI
	IMULQ      R8, AX
	ADDQ       SI, AX
	LEAQ       (AX)(R9*8), DX
	PREFETCHT0 -8(DX)         // the last word, which may be in a line of its own

line:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	CMPQ       AX, DX
	JCS        line
	DECQ       CX
	JNE        row

done:
	RET
