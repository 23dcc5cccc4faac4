#include "textflag.h"

// Registers of snappyRun:
//
//	SI       behind the tag at hand       R9   the tag
//	R8       where dst goes on            R10, R11  the copy that is due: from, length
//	R13      with SI from here on, there may be too little of src for two elements
//	R15      with R8+R11 from here on, there may be too little of dst
//	DX       the beginning of dst         R12  the table
//
// Of an element:
//
//	AX       its length less its offset, then where to copy from
//	R14      its length                   DI   SI before it
//	CX       the bits that are offset; 0: a literal

// DUE copies R11 bytes, of at most 64, from R10 to R8, and what lies behind them up to 32 or 64. more is
// where DUEMORE for the same labels stands.
#define DUE(more, done) \
	MOVOU (R10), X0 \
	MOVOU 16(R10), X1 \
	MOVOU X0, (R8) \
	MOVOU X1, 16(R8) \
	CMPQ  R11, $32 \
	JHI   more \
done: \
	ADDQ R11, R8

#define DUEMORE(more, done) \
more: \
	MOVOU 32(R10), X0 \
	MOVOU 48(R10), X1 \
	MOVOU X0, 32(R8) \
	MOVOU X1, 48(R8) \
	JMP   done

// ELEMENT takes an element apart, does the copy that is due, and leaves its own due. The
// next tag is SI+type+1 or, of type 3, SI+5, or behind the literal.
#define ELEMENT(more, done) \
	MOVWQSX (R12)(R9*2), AX \
	MOVL    (SI), BX \
	MOVQ    SI, DI \
	MOVL    R9, CX \
	SHRL    $2, R9 \
	LEAQ    2(SI)(R9*1), R9 \
	ANDL    $3, CX \
	LEAQ    2(SI)(CX*1), SI \
	CMPL    CX, $3 \
	SBBQ    $0, SI \
	TESTL   CX, CX \
	CMOVQEQ R9, SI \
	MOVBLZX -1(SI), R9 \
	MOVBLZX AX, R14 \
	MOVL    512(R12)(CX*4), CX \
	ANDL    CX, BX \
	SUBQ    BX, AX \
	JGT     special \
	DUE(more, done) \
	SUBQ    R14, AX \
	ADDQ    R8, AX \
	CMPQ    AX, DX \
	JCS     before \
	TESTL   CX, CX \
	CMOVQEQ DI, AX \
	MOVQ    AX, R10 \
	MOVQ    R14, R11

// AGAIN goes on with the loop if there is enough of src and dst.
#define AGAIN \
	CMPQ SI, R13 \
	JCC  end \
	LEAQ (R8)(R11*1), AX \
	CMPQ AX, R15 \
	JCS  loop

// func snappyRun(table *snappyTags, dst, src []byte, op, ip int) (nextOp, nextIP int)
TEXT ·snappyRun(SB), NOSPLIT, $0-88
	MOVQ dst_base+8(FP), DX
	MOVQ dst_len+16(FP), R15
	MOVQ src_base+32(FP), SI
	MOVQ src_len+40(FP), R13
	MOVQ table+0(FP), R12

	// Two elements write up to 64+64+15 bytes from R8+R11 on, of which
	// the last belong to none, and read up to 62+64 from SI on.
	ADDQ DX, R15
	SUBQ $160, R15
	ADDQ SI, R13
	SUBQ $128, R13
	MOVQ op+56(FP), R8
	ADDQ DX, R8
	ADDQ ip+64(FP), SI
	MOVQ SI, R10
	XORL R11, R11
	CMPQ SI, R13
	JCC  out
	CMPQ R8, R15
	JCC  out
	MOVBLZX (SI), R9
	INCQ SI

loop:
	ELEMENT(more1, done1)
	ELEMENT(more2, done2)
	AGAIN

end:
	MOVQ SI, DI

	// The element whose tag is before DI was not taken.
exit:
	DUE(more3, done3)

leave:
	LEAQ -1(DI), SI

out:
	SUBQ dst_base+8(FP), R8
	MOVQ R8, nextOp+72(FP)
	SUBQ src_base+32(FP), SI
	MOVQ SI, nextIP+80(FP)
	RET

	DUEMORE(more1, done1)
	DUEMORE(more2, done2)
	DUEMORE(more3, done3)
	DUEMORE(more4, done4)

	// It reaches before dst: that is damage, unless it is a literal, whose offset is made up.
before:
	TESTL CX, CX
	JNE   leave
	MOVQ  DI, R10
	MOVQ  R14, R11
	AGAIN
	JMP   end

	// The copy overlaps itself, or it is snappyOther.
special:
	CMPL R14, $0x80
	JCC  exit
	DUE(more4, done4)
	SUBQ R14, AX
	JEQ  leave    // offset 0
	ADDQ R8, AX
	CMPQ AX, DX
	JCS  leave
	ADDQ R8, R14  // the end of the copy
	MOVQ R8, R10

	// As long as AX and R10 are less than 16 bytes apart, what is copied doubles.
pattern:
	MOVQ  R10, BX
	SUBQ  AX, BX
	MOVOU (AX), X0
	MOVOU X0, (R10)
	CMPQ  BX, $16
	JCC   wide
	ADDQ  BX, R10
	CMPQ  R10, R14
	JCS   pattern
	JMP   copied

wide:
	ADDQ  $16, AX
	ADDQ  $16, R10
	CMPQ  R10, R14
	JCC   copied
	MOVOU (AX), X0
	MOVOU X0, (R10)
	JMP   wide

copied:
	MOVQ R14, R8
	MOVQ DX, R10
	XORL R11, R11
	AGAIN
	JMP  end
