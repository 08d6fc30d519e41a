#include "textflag.h"

// By lane: how far its half of a byte is from the right, for the first four words of a group.
// In the last four it is 16 bits further.
DATA shifts<>+0(SB)/8, $0x0000000000000000
DATA shifts<>+8(SB)/8, $0x0000000400000004
DATA shifts<>+16(SB)/8, $0x0000000800000008
DATA shifts<>+24(SB)/8, $0x0000000c0000000c
GLOBL shifts<>(SB), RODATA|NOPTR, $32

DATA halves<>+0(SB)/4, $15
GLOBL halves<>(SB), RODATA|NOPTR, $4

DATA further<>+0(SB)/4, $16
GLOBL further<>(SB), RODATA|NOPTR, $4

// The halves of eight bytes of a row, times its factor, are added to Y8 and Y9.
#define ROW(row, factor) \
	VPBROADCASTQ (row)(CX*8), Y10 \
	VPSRLVD      Y12, Y10, Y11    \
	VPSRLVD      Y13, Y10, Y10    \
	VPAND        Y14, Y11, Y11    \
	VPAND        Y14, Y10, Y10    \
	VPMULLD      factor, Y11, Y11 \
	VPMULLD      factor, Y10, Y10 \
	VPADDD       Y11, Y8, Y8      \
	VPADDD       Y10, Y9, Y9

// func addHalvesAVX2(lanes *uint64, a, b, c, d *byte, factors *[4]uint64, groups int)
TEXT ·addHalvesAVX2(SB), NOSPLIT, $0-56
	MOVQ         lanes+0(FP), DI
	MOVQ         a+8(FP), R8
	MOVQ         b+16(FP), R9
	MOVQ         c+24(FP), R10
	MOVQ         d+32(FP), R11
	MOVQ         factors+40(FP), AX
	MOVQ         groups+48(FP), DX
	VPBROADCASTD 0(AX), Y0
	VPBROADCASTD 8(AX), Y1
	VPBROADCASTD 16(AX), Y2
	VPBROADCASTD 24(AX), Y3
	VMOVDQU      shifts<>(SB), Y12
	VPBROADCASTD halves<>(SB), Y14
	VPBROADCASTD further<>(SB), Y13
	VPADDD       Y12, Y13, Y13
	XORQ         CX, CX

next:
	VMOVDQU (DI), Y8
	VMOVDQU 32(DI), Y9
	ROW(R8, Y0)
	ROW(R9, Y1)
	ROW(R10, Y2)
	ROW(R11, Y3)
	VMOVDQU Y8, (DI)
	VMOVDQU Y9, 32(DI)
	ADDQ    $64, DI
	INCQ    CX
	CMPQ    CX, DX
	JLT     next
	VZEROUPPER
	RET
