package embedder

import "testing"

func TestSameModel(t *testing.T) {
	base := [][]float32{{.6, .8, 0}, {0, .6, -.8}}
	changed := func(v ...float32) [][]float32 { return [][]float32{base[0], v} }
	for name, c := range map[string]struct {
		a, b [][]float32
		want bool
	}{
		"equal":                 {base, base, true},
		"rounded otherwise":     {base, changed(1e-5, .60001, -.79999), true},
		"of another length":     {base, changed(0, 1.2, -1.6), true},
		"one byte a component":  {base, changed(0, 95./127, -1), true},
		"other weights":         {base, changed(.3, .6, -.74), false},
		"the other way round":   {base, changed(0, -.6, .8), false},
		"another width":         {base, changed(0, .6, -.8, 0), false},
		"fewer probes":          {base, base[:1], false},
		"none":                  {nil, nil, false},
		"a vector that is zero": {base, changed(0, 0, 0), false},
	} {
		if got := SameModel(c.a, c.b); got != c.want {
			t.Errorf("%s: the same model is %v, want %v", name, got, c.want)
		}
		if got := SameModel(c.b, c.a); got != c.want {
			t.Errorf("%s, turned round: the same model is %v, want %v", name, got, c.want)
		}
	}
	if Fingerprint(base) == Fingerprint(changed(.3, .6, -.74)) {
		t.Error("other weights have the same fingerprint")
	}
}
