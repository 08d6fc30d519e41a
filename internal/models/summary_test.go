package models

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

// TestSummaryKeepsSecrets: a prompt for a server that may be elsewhere has lost its secrets, also
// while redact.enabled is false; one for a server on this machine arrives as it is.
func TestSummaryKeepsSecrets(t *testing.T) {
	const prompt = "The deploy token ghp_0123456789abcdefghijABCDEFGHIJ012345 is old"
	for _, elsewhere := range []bool{true, false} {
		fake := ollamatest.NewFake()
		talker := ollamatest.FakeModel{Arch: "llama", Dim: 64, Context: 32768}
		talker.Capabilities = append(talker.Capabilities, "completion")
		fake.SetModel("talker", talker)
		m, err := NewOllama(ollama.Options{Model: ollamatest.Model, ServerOptions: ollama.ServerOptions{Transport: fake, AllowRemote: elsewhere}}, false, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, _, err := m.Summarizer("talker").Summarize(t.Context(), prompt); err != nil {
			t.Fatal(err)
		}
		if sent := fake.Chats()[0].Messages[0].Content; strings.Contains(sent, "ghp_") == elsewhere || !strings.HasPrefix(sent, "The deploy token ") {
			t.Errorf("elsewhere %v: sent %q", elsewhere, sent)
		}
	}
}
