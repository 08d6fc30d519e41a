package daemon

import (
	"testing"

	"github.com/recalld/recalld/internal/testkit/moregarbage"
)

func TestMain(m *testing.M) {
	moregarbage.Allow()
	m.Run()
}
