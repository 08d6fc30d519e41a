// The trainer of the built-in model is a module of its own, so that the program does
// not depend on it.
module github.com/recalld/recalld/embedder/builtin/training

go 1.26.0

require (
	github.com/recalld/recalld v0.0.0
	github.com/viterin/vek v0.4.3
)

require (
	github.com/RoaringBitmap/roaring/v2 v2.30.0 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/chewxy/math32 v1.11.0 // indirect
	github.com/mschoch/smat v0.2.0 // indirect
	github.com/philippgille/chromem-go v0.7.0 // indirect
	github.com/viterin/partial v1.1.0 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/recalld/recalld => ../../..
