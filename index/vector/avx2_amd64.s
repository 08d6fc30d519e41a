#include "textflag.h"

// For each value of four bits, by bit of the query: how many bits are set, twice as many, and
// 16 less four times as many, which is never negative.
DATA ones<>+0(SB)/8, $0x0302020102010100
DATA ones<>+8(SB)/8, $0x0403030203020201
GLOBL ones<>(SB), RODATA|NOPTR, $16

DATA twos<>+0(SB)/8, $0x0604040204020200
DATA twos<>+8(SB)/8, $0x0806060406040402
GLOBL twos<>(SB), RODATA|NOPTR, $16

DATA fours<>+0(SB)/8, $0x0408080c080c0c10
DATA fours<>+8(SB)/8, $0x000404080408080c
GLOBL fours<>(SB), RODATA|NOPTR, $16

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $16

// func distancesAVX2(codes *uint64, slots *uint32, n int, planes *[6][4]uint64, out *uint32)
TEXT ·distancesAVX2(SB), NOSPLIT, $0-40
	MOVQ codes+0(FP), SI
	MOVQ slots+8(FP), DX
	MOVQ n+16(FP), CX
	MOVQ planes+24(FP), BX
	MOVQ out+32(FP), DI
	VMOVDQU 0(BX), Y0
	VMOVDQU 32(BX), Y1
	VMOVDQU 64(BX), Y2
	VMOVDQU 96(BX), Y3
	VMOVDQU 128(BX), Y4
	VMOVDQU 160(BX), Y5
	VBROADCASTI128 ones<>(SB), Y6
	VBROADCASTI128 twos<>(SB), Y7
	VBROADCASTI128 fours<>(SB), Y8
	VBROADCASTI128 nibbles<>(SB), Y9
	VPXOR   Y10, Y10, Y10

next:
	MOVL    (DX), AX
	SHLQ    $5, AX
	VMOVDQU (SI)(AX*1), Y11
	VPAND   Y9, Y11, Y12     // the low four bits of each byte
	VPSRLW  $4, Y11, Y11
	VPAND   Y9, Y11, Y11     // the high ones
	VPAND   Y0, Y12, Y13
	VPSHUFB Y13, Y6, Y13
	VPAND   Y1, Y12, Y14
	VPSHUFB Y14, Y7, Y14
	VPADDB  Y14, Y13, Y13
	VPAND   Y2, Y12, Y12
	VPSHUFB Y12, Y8, Y12
	VPADDB  Y12, Y13, Y13
	VPAND   Y3, Y11, Y14
	VPSHUFB Y14, Y6, Y14
	VPADDB  Y14, Y13, Y13
	VPAND   Y4, Y11, Y14
	VPSHUFB Y14, Y7, Y14
	VPADDB  Y14, Y13, Y13
	VPAND   Y5, Y11, Y11
	VPSHUFB Y11, Y8, Y11
	VPADDB  Y11, Y13, Y13    // at most 56 in each byte
	VPSADBW Y10, Y13, Y13    // four sums of eight bytes

	VEXTRACTI128 $1, Y13, X14
	VPADDQ       X14, X13, X13
	VPSRLDQ      $8, X13, X14
	VPADDQ       X14, X13, X13
	VMOVD        X13, AX

	// 4·256 less the agreement, which the sum exceeds by 16 for each four bits.
	MOVL $2048, R8
	SUBL AX, R8
	MOVL R8, (DI)
	ADDQ $4, DX
	ADDQ $4, DI
	DECQ CX
	JNZ  next
	VZEROUPPER
	RET

// func productAVX2(row *int8, query *int16, n int) int64
TEXT ·productAVX2(SB), NOSPLIT, $0-32
	MOVQ  row+0(FP), SI
	MOVQ  query+8(FP), DI
	MOVQ  n+16(FP), CX
	VPXOR Y0, Y0, Y0

next:
	VPMOVSXBW (SI), Y1        // 16 components to 16 bits each
	VPMADDWD  (DI), Y1, Y1    // products, added in pairs
	VPADDD    Y1, Y0, Y0
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       next

	VEXTRACTI128 $1, Y0, X1
	VPMOVSXDQ    X0, Y0
	VPMOVSXDQ    X1, Y1
	VPADDQ       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSRLDQ      $8, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, AX
	MOVQ         AX, ret+24(FP)
	VZEROUPPER
	RET
