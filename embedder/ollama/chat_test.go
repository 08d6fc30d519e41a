package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

// chatting returns a fake with a model that chats, and a client of it.
func chatting(t *testing.T, change ...func(*ollamatest.FakeModel)) (*ollamatest.Fake, *ollama.Server) {
	t.Helper()
	fake := ollamatest.NewFake()
	m := ollamatest.FakeModel{Arch: "llama", Dim: 64, Context: 32768, Capabilities: []model.Capability{model.CapabilityCompletion}}
	for _, c := range change {
		c(&m)
	}
	fake.SetModel("talker", m)
	server, err := ollama.NewServer(ollama.ServerOptions{Transport: fake})
	if err != nil {
		t.Fatal(err)
	}
	return fake, server
}

func TestChat(t *testing.T) {
	fake, server := chatting(t, func(m *ollamatest.FakeModel) {
		m.Capabilities = append(m.Capabilities, model.CapabilityThinking)
	})
	fake.SetChat(func(r api.ChatRequest) string { return "It was " + r.Messages[len(r.Messages)-1].Content + ".\n" })
	got, err := server.Chat(t.Context(), "talker", "Be short.", "the butler")
	if err != nil || got != "It was the butler.\n" {
		t.Errorf("the answer is %q, %v", got, err)
	}
	if got, err := server.Chat(t.Context(), "talker:latest", "", "x"); err != nil || got != "It was x.\n" {
		t.Errorf("the answer to a message alone is %q, %v", got, err)
	}
	chats := fake.Chats()
	first := chats[0]
	if len(first.Messages) != 2 || first.Messages[0].Role != "system" || first.Messages[0].Content != "Be short." || first.Messages[1].Role != "user" ||
		first.Options["temperature"] != 0.0 || first.Options["num_ctx"].(float64) < 4096 || *first.Truncate || *first.Shift || first.Think == nil || first.Think.Bool() {
		t.Errorf("the server was asked %+v", first)
	}
	if second := chats[1]; len(second.Messages) != 1 || second.Messages[0].Role != "user" {
		t.Errorf("without a system prompt it was asked %+v", second.Messages)
	}
}

// The context grows with the prompt, up to what the model has.
func TestChatContext(t *testing.T) {
	fake, server := chatting(t)
	long := strings.Repeat("word ", 10_000)
	if _, err := server.Chat(t.Context(), "talker", "", long); !errors.Is(err, ollama.ErrTooLong) {
		t.Errorf("an answer of 10,000 words: %v, want %v", err, ollama.ErrTooLong)
	}
	fake.SetChat(func(api.ChatRequest) string { return "Short." })
	if got, err := server.Chat(t.Context(), "talker", "", long); err != nil || got != "Short." {
		t.Errorf("a long prompt is answered %q, %v", got, err)
	}
	for i, c := range fake.Chats() {
		if size := c.Options["num_ctx"].(float64); size < 10_000+ollama.MaxAnswer || size > 32768 {
			t.Errorf("request %d asks for a context of %v", i, size)
		}
	}
	asked := len(fake.Chats())
	if _, err := server.Chat(t.Context(), "talker", "", strings.Repeat(long, 3)); !errors.Is(err, ollama.ErrTooLong) || len(fake.Chats()) != asked {
		t.Errorf("a prompt longer than the model's context: %v after %d requests; want %v without one", err, len(fake.Chats())-asked, ollama.ErrTooLong)
	}
	fake.FailChat(func(w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) bool {
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`{"error":"the input length exceeds the context length"}`))
		return true
	})
	if _, err := server.Chat(t.Context(), "talker", "", "x"); !errors.Is(err, ollama.ErrTooLong) {
		t.Errorf("a prompt that the server finds too long: %v, want %v", err, ollama.ErrTooLong)
	}
}

func TestChatFails(t *testing.T) {
	busy := func(w http.ResponseWriter, _ *http.Request, _ api.ChatRequest) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"error":"server busy, please try again"}`))
		return true
	}
	for name, c := range map[string]struct {
		model  string
		change func(*ollamatest.FakeModel)
		fault  ollamatest.ChatFault
		down   bool
		want   error
	}{
		"unknown model":      {model: "nobody", want: embedder.ErrModelNotFound},
		"model that embeds":  {model: ollamatest.Model, want: ollama.ErrNotChatting},
		"model elsewhere":    {change: func(m *ollamatest.FakeModel) { m.RemoteHost = "https://ollama.com" }, want: ollama.ErrRemote},
		"answer breaks off":  {fault: ollamatest.BrokenOff(), want: embedder.ErrUnavailable},
		"busy":               {fault: busy, want: embedder.ErrUnavailable},
		"server not running": {down: true, want: embedder.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(*ollamatest.FakeModel) {}
			if c.change != nil {
				change = c.change
			}
			fake, server := chatting(t, change)
			fake.SetDown(c.down)
			if c.fault != nil {
				fake.FailChat(c.fault)
			}
			if c.model == "" {
				c.model = "talker"
			}
			if got, err := server.Chat(t.Context(), c.model, "", "hello"); !errors.Is(err, c.want) || got != "" {
				t.Errorf("the answer is %q, %v; want %v", got, err, c.want)
			}
		})
	}
}

// A model elsewhere is asked where a setting allows it.
func TestChatElsewhere(t *testing.T) {
	fake, _ := chatting(t, func(m *ollamatest.FakeModel) { m.RemoteHost = "https://ollama.com" })
	server, err := ollama.NewServer(ollama.ServerOptions{Transport: fake, AllowRemote: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := server.Chat(t.Context(), "talker", "", "hello"); err != nil || got != "hello" {
		t.Errorf("the answer is %q, %v", got, err)
	}
}

// The caller's deadline bounds a model that hangs.
func TestChatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, server := chatting(t)
		fake.FailChat(func(_ http.ResponseWriter, r *http.Request, _ api.ChatRequest) bool {
			<-r.Context().Done()
			return true
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if _, err := server.Chat(ctx, "talker", "", "hello"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("after %v it ended with %v", time.Since(began), err)
		}
	})
}

// The fake and the server itself answer alike.
func TestChatConformance(t *testing.T) {
	fake, _ := chatting(t)
	fake.SetModel(ollamatest.ChatModel, ollamatest.FakeModel{Arch: "llama", Dim: 320, Context: 16384, Capabilities: []model.Capability{model.CapabilityCompletion}})
	fake.SetChat(func(r api.ChatRequest) string {
		if strings.HasSuffix(r.Messages[len(r.Messages)-1].Content, "~") {
			return strings.Repeat("~ ", 2*ollama.MaxAnswer)
		}
		return ollamatest.ChatAnswer
	})
	t.Run("fake", func(t *testing.T) { chatConforms(t, ollama.ServerOptions{Transport: fake}) })
	t.Run("real", func(t *testing.T) {
		real := ollamatest.Start(t)
		real.CreateChat()
		chatConforms(t, ollama.ServerOptions{BaseURL: real.URL})

		// Letters are tokens there, four times as many as are reckoned with.
		server, err := ollama.NewServer(ollama.ServerOptions{BaseURL: real.URL})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := server.Chat(t.Context(), ollamatest.ChatModel, "", strings.Repeat("a", 20_000)); !errors.Is(err, ollama.ErrTooLong) {
			t.Errorf("a prompt that is longer than it was reckoned: %q, %v; want %v", got, err, ollama.ErrTooLong)
		}
	})
}

func chatConforms(t *testing.T, o ollama.ServerOptions) {
	server, err := ollama.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		model, system, user, want string
		err                       error
	}{
		"message":            {ollamatest.ChatModel, "", "Does it work?", ollamatest.ChatAnswer, nil},
		"system prompt":      {ollamatest.ChatModel, "Be honest.", "Does it work?", ollamatest.ChatAnswer, nil},
		"tagged":             {ollamatest.ChatModel + ":latest", "", "x", ollamatest.ChatAnswer, nil},
		"answer without end": {ollamatest.ChatModel, "", "go on ~", "", ollama.ErrTooLong},
		"model that embeds":  {ollamatest.Model, "", "hello", "", ollama.ErrNotChatting},
		"unknown model":      {"nobody", "", "hello", "", embedder.ErrModelNotFound},
	} {
		got, err := server.Chat(t.Context(), c.model, c.system, c.user)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, c.want, c.err)
		}
	}
}
