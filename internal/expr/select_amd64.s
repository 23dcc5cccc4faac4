#include "textflag.h"

DATA firstRows<>+0(SB)/8, $0x0000000100000000
DATA firstRows<>+8(SB)/8, $0x0000000300000002
DATA firstRows<>+16(SB)/8, $0x0000000500000004
DATA firstRows<>+24(SB)/8, $0x0000000700000006
GLOBL firstRows<>(SB), RODATA|NOPTR, $32

DATA step<>+0(SB)/4, $8
GLOBL step<>(SB), RODATA|NOPTR, $4

// Registers:
//
//	DI  dst         AX  how many were written     Y1  the numbers of the rows at hand
//	SI  the values  CX  how many are left, / 8    Y2  8, eight times
//	R8  null, or 0  R10 rowsOf                    BX  by row: it is true
//
// BEGIN ends at done if there are fewer than eight values.
#define BEGIN \
	MOVQ         dst+0(FP), DI \
	MOVQ         null+32(FP), R8 \
	MOVQ         rows+40(FP), R10 \
	VMOVDQU      firstRows<>(SB), Y1 \
	VPBROADCASTD step<>(SB), Y2 \
	XORL         AX, AX \
	SHRQ         $3, CX \
	JEQ          done

// NULLS takes those out of BX that are NULL.
#define NULLS \
	TESTQ     R8, R8 \
	JEQ       write \
	VMOVQ     (R8), X4 \
	VPSLLW    $7, X4, X4 \
	VPMOVMSKB X4, DX \
	NOTL      DX \
	ANDL      DX, BX \
	ADDQ      $8, R8

// WRITE writes the rows that are true, and goes on.
#define WRITE \
write: \
	VPMOVZXBD (R10)(BX*8), Y4 \
	VPERMD    Y1, Y4, Y4 \
	VMOVDQU   Y4, (DI)(AX*4) \
	POPCNTL   BX, BX \
	ADDQ      BX, AX \
	VPADDD    Y2, Y1, Y1 \
	DECQ      CX \
	JNE       loop \
done: \
	VZEROUPPER

// func selectWordsAVX2(dst *int32, is []int64, null *bool, rows *[256][8]byte) int
TEXT ·selectWordsAVX2(SB), NOSPLIT, $0-56
	MOVQ is_base+8(FP), SI
	MOVQ is_len+16(FP), CX
	BEGIN

loop:
	VMOVDQU   (SI), Y3
	VMOVDQU   32(SI), Y4
	VPSLLQ    $63, Y3, Y3
	VPSLLQ    $63, Y4, Y4
	VMOVMSKPD Y3, BX
	VMOVMSKPD Y4, DX
	SHLL      $4, DX
	ORL       DX, BX
	ADDQ      $64, SI
	NULLS
	WRITE
	MOVQ      AX, ret+48(FP)
	RET

// func selectBitsAVX2(dst *int32, codes []int32, null *bool, rows *[256][8]byte, bits uint32) int
TEXT ·selectBitsAVX2(SB), NOSPLIT, $0-64
	MOVL         bits+48(FP), BX
	VMOVD        BX, X0
	VPBROADCASTD X0, Y0
	MOVQ codes_base+8(FP), SI
	MOVQ codes_len+16(FP), CX
	BEGIN

loop:
	VMOVDQU   (SI), Y3
	VPSRLVD   Y3, Y0, Y3
	VPSLLD    $31, Y3, Y3
	VMOVMSKPS Y3, BX
	ADDQ      $32, SI
	NULLS
	WRITE
	MOVQ      AX, ret+56(FP)
	RET

// func selectManyAVX2(dst *int32, codes []int32, null *bool, rows *[256][8]byte, bits []uint32) int
TEXT ·selectManyAVX2(SB), NOSPLIT, $0-80
	MOVQ bits_base+48(FP), R11
	MOVQ codes_base+8(FP), SI
	MOVQ codes_len+16(FP), CX
	BEGIN
	VPCMPEQD Y8, Y8, Y8
	VPSRLD   $27, Y8, Y7

loop:
	VMOVDQU    (SI), Y3
	VPSRLD     $5, Y3, Y5
	VPAND      Y7, Y3, Y3
	VMOVDQA    Y8, Y6
	VPGATHERDD Y6, (R11)(Y5*4), Y0
	VPSRLVD    Y3, Y0, Y3
	VPSLLD     $31, Y3, Y3
	VMOVMSKPS  Y3, BX
	ADDQ       $32, SI
	NULLS
	WRITE
	MOVQ       AX, ret+72(FP)
	RET

// func selectCodeAVX2(dst *int32, codes []int32, null *bool, rows *[256][8]byte, code int32, flip uint32) int
TEXT ·selectCodeAVX2(SB), NOSPLIT, $0-64
	MOVL         code+48(FP), BX
	VMOVD        BX, X0
	VPBROADCASTD X0, Y0
	MOVL         flip+52(FP), R9
	MOVQ codes_base+8(FP), SI
	MOVQ codes_len+16(FP), CX
	BEGIN

loop:
	VPCMPEQD  (SI), Y0, Y3
	VMOVMSKPS Y3, BX
	XORL      R9, BX
	ADDQ      $32, SI
	NULLS
	WRITE
	MOVQ      AX, ret+56(FP)
	RET
