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

// Fingerprint returns a short hash of the probes' vectors. Components are
// rounded to two decimals and their signs kept only beyond .02, which absorbs
// the rounding of other processors and not other weights.
func Fingerprint(vectors [][]float32) string {
	h := sha256.New()
	for _, v := range vectors {
		for _, x := range v {
			h.Write([]byte{byte(int8(math.Round(float64(x) * 25)))})
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
