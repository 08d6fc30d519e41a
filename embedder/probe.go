package embedder

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
)

// Probes are the texts whose vectors identify a model, embedded as documents:
// prose, code and another script, so that a changed tokenizer shows as well.
var Probes = []string{
	"The server closes idle connections after two minutes.",
	"func parseChunk(r io.Reader) (n int, err error)",
	"größere Änderung – 数据库连接失败",
}

// Fingerprint returns a short hash of the probes' vectors, each component rounded to a
// multiple of .04. Different weights have different fingerprints. The same weights may
// differ too on another processor, if a component is at the edge of two multiples. The
// fingerprint names a new vector space; SameModel recognises a known one.
func Fingerprint(vectors [][]float32) string {
	h := sha256.New()
	for _, v := range vectors {
		for _, x := range v {
			h.Write([]byte{byte(int8(math.Round(float64(x) * 25)))})
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// SameCosine is the least cosine of a probe's vectors at which a model counts as the same.
// Other threads, batches and processors, and storing a byte per component, stay far above
// it.
const SameCosine = .99

// SameModel says whether two lists of the probes' vectors come from the same
// weights. Vectors need not be of unit length.
func SameModel(a, b [][]float32) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) || !near(a[i], b[i]) {
			return false
		}
	}
	return true
}

func near(a, b []float32) bool {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	return dot >= SameCosine*math.Sqrt(aa*bb) && aa > 0 && bb > 0
}
