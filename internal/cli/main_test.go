package cli

import (
	"os"
	"testing"

	"github.com/recalld/recalld/internal/testkit/moregarbage"
)

func TestMain(m *testing.M) {
	moregarbage.Allow()
	os.Exit(m.Run())
}
