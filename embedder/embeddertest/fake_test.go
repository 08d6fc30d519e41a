package embeddertest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
)

func TestFake(t *testing.T) {
	embeddertest.Run(t, func(*testing.T) embedder.Embedder { return new(embeddertest.Fake) })
}

func TestFakeFailsAsTold(t *testing.T) {
	down, bad := errors.New("down"), errors.New("bad text")
	f := &embeddertest.Fake{
		Before: func(_ context.Context, texts []string) error {
			if texts == nil {
				return down
			}
			return nil
		},
		Refuse: func(text string) error {
			if text == "b" {
				return bad
			}
			return nil
		},
	}
	if _, err := f.Model(t.Context()); !errors.Is(err, down) {
		t.Errorf("model: %v, want %v", err, down)
	}
	vs, err := f.Embed(t.Context(), embedder.Document, []string{"a", "b"})
	if !errors.Is(err, bad) || vs[0] == nil || vs[1] != nil {
		t.Errorf("embed: vectors %v, error %v, want the first only and %v", vs, err, bad)
	}
	if calls, texts := f.Calls(); calls != 1 || texts != 2 {
		t.Errorf("%d calls of %d texts were counted, want 1 of 2", calls, texts)
	}
}
