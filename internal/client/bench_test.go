package client_test

import (
	"testing"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// What the transport costs: a round trip of a call that does nothing, and a
// connect with its hello, as every hook pays it.
func BenchmarkRoundTrip(b *testing.B) {
	socket := listen(b, api.NewHandler(&servicetest.Service{Answers: map[string]any{service.Status.Name: &memory.Status{}}}, api.Options{}))
	b.Run("connect", func(b *testing.B) {
		for b.Loop() {
			c, err := client.Connect(b.Context(), client.Options{Socket: socket})
			if err != nil {
				b.Fatal(err)
			}
			_ = c.Close()
		}
	})
	b.Run("status", func(b *testing.B) {
		c, err := client.Connect(b.Context(), client.Options{Socket: socket})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		for b.Loop() {
			if _, err := service.Status.Do(b.Context(), c, service.None{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
