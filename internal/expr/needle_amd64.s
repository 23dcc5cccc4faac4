#include "textflag.h"

// func indexPairAVX2(p, q []byte, a, b byte) int
TEXT ·indexPairAVX2(SB), NOSPLIT, $0-64
	MOVQ         p_base+0(FP), SI
	MOVQ         p_len+8(FP), CX
	MOVQ         q_base+24(FP), DI
	VPBROADCASTB a+48(FP), Y0
	VPBROADCASTB b+49(FP), Y1
	XORL         AX, AX

loop:
	CMPQ      AX, CX
	JCC       done
	VPCMPEQB  (SI)(AX*1), Y0, Y2
	VPCMPEQB  (DI)(AX*1), Y1, Y3
	VPAND     Y2, Y3, Y2
	VPMOVMSKB Y2, DX
	ADDQ      $32, AX
	TESTL     DX, DX
	JEQ       loop
	BSFL      DX, DX
	LEAQ      -32(AX)(DX*1), AX

done:
	VZEROUPPER
	MOVQ AX, ret+56(FP)
	RET
