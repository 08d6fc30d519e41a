package recall

import "testing"

// TestAdaptedModelIsCalibrated: a model adapted from the built-in one has its
// calibration, and no other model has.
func TestAdaptedModelIsCalibrated(t *testing.T) {
	c := ShippedCalibration()
	const shipped = vectorPrefix + "builtin/static-v1"
	if got, want := c.model(shipped+"-adapted-0a1b2c3d"), c.model(shipped); got != want || want.Deviation == 0 {
		t.Errorf("the adapted model has %+v, the built-in one %+v", got, want)
	}
	if got := c.model(vectorPrefix + "ollama/static-v1-adapted-0a1b2c3d"); got.Deviation != 0 {
		t.Errorf("a model of a server has the built-in one's moments: %+v", got)
	}
}
