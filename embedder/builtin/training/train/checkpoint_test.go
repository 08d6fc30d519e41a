package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

const tokens = 60

// newTrainer returns a trainer of a small model of random rows.
func newTrainer(t *testing.T, tokens int) *contrast.Trainer {
	t.Helper()
	draw := rand.New(rand.NewPCG(6, 6))
	m := contrast.NewModel(tokens, 16)
	for i := range m.Rows {
		m.Rows[i] = float32(draw.NormFloat64()) / 4
	}
	trainer, err := contrast.NewTrainer(m, contrast.Options{Steps: 20, Dropout: .2, Anchor: .5})
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// train goes on to a step.
func train(t *testing.T, trainer *contrast.Trainer, step int) {
	t.Helper()
	draw, pairs := rand.New(rand.NewPCG(5, 5)), &contrast.Pairs{}
	for range 200 {
		topic := draw.Uint32N(tokens/2 - 2)
		pairs.A.Add([]uint32{topic, tokens/2 - 1, tokens/2 - 2})
		pairs.B.Add([]uint32{tokens/2 + topic, tokens - 1, tokens/2 - 2, tokens/2 - 2})
	}
	s, err := contrast.NewSampler([]contrast.Cohort{{Pairs: upTo(pairs.Len()), Weight: 1}}, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	for trainer.Steps < step {
		if _, err := trainer.Step(pairs, s.Batch(trainer.Steps, 48)); err != nil {
			t.Fatal(err)
		}
	}
}

func sameModel(a, b *contrast.Model) bool {
	return a.Width == b.Width && slices.Equal(a.Rows, b.Rows) && slices.Equal(a.LogWeights, b.LogWeights)
}

// TestResume interrupts a run: what follows must be as if it had not been.
func TestResume(t *testing.T) {
	whole, begun, resumed := newTrainer(t, tokens), newTrainer(t, tokens), newTrainer(t, tokens)
	train(t, whole, 20)
	train(t, begun, 9)
	var checkpoint bytes.Buffer
	if err := errors.Join(writeCheckpoint(&checkpoint, begun), readCheckpoint(&checkpoint, resumed)); err != nil {
		t.Fatal(err)
	}
	if resumed.Steps != 9 || resumed.Done() {
		t.Fatalf("%d steps are made, done %v, want 9 and more to do", resumed.Steps, resumed.Done())
	}
	train(t, resumed, 20)
	if !sameModel(resumed.Model(), whole.Model()) {
		t.Error("an interrupted run ends in another model")
	}
	if !resumed.Done() {
		t.Error("the run is not done after its last step")
	}
}

func TestDamagedFiles(t *testing.T) {
	trainer := newTrainer(t, tokens)
	train(t, trainer, 1)
	var checkpoint, model bytes.Buffer
	if err := errors.Join(writeCheckpoint(&checkpoint, trainer), writeModel(&model, trainer.Model())); err != nil {
		t.Fatal(err)
	}
	if m, err := readModel(bytes.NewReader(model.Bytes())); err != nil || !sameModel(m, trainer.Model()) {
		t.Errorf("the model that was read is not the one that was written: %v", err)
	}
	other := newTrainer(t, tokens)
	for name, damage := range map[string]func([]byte) []byte{
		"empty":      func([]byte) []byte { return nil },
		"magic":      func(b []byte) []byte { b[0] ^= 1; return b },
		"size":       func(b []byte) []byte { b[7] = 255; return b },
		"one bit":    func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
		"cut":        func(b []byte) []byte { return b[:len(b)-5] },
		"more of it": func(b []byte) []byte { return append(b, 0) },
	} {
		if _, err := readModel(bytes.NewReader(damage(slices.Clone(model.Bytes())))); !errors.Is(err, errDamaged) {
			t.Errorf("model, %s: error %v, want %v", name, err, errDamaged)
		}
		if err := readCheckpoint(bytes.NewReader(damage(slices.Clone(checkpoint.Bytes()))), other); !errors.Is(err, errDamaged) {
			t.Errorf("checkpoint, %s: error %v, want %v", name, err, errDamaged)
		}
	}
	if other.Steps != 0 || !sameModel(other.Model(), newTrainer(t, tokens).Model()) {
		t.Error("a damaged checkpoint changed the trainer")
	}
	if err := readCheckpoint(&checkpoint, newTrainer(t, tokens+1)); !errors.Is(err, errDamaged) {
		t.Errorf("checkpoint of another size: error %v, want %v", err, errDamaged)
	}
}

func FuzzReadModel(f *testing.F) {
	var model bytes.Buffer
	if err := writeModel(&model, contrast.NewModel(3, 2)); err != nil {
		f.Fatal(err)
	}
	f.Add(model.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readModel(bytes.NewReader(b)); err == nil && len(m.Rows) != m.Width*m.Tokens() {
			t.Errorf("%d components of %d tokens of width %d", len(m.Rows), m.Tokens(), m.Width)
		}
	})
}
