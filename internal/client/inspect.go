package client

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// Skipped implements memory.Repositories.
func (c *Client) Skipped(ctx context.Context, req memory.SkippedRequest) (*memory.SkippedList, error) {
	return post[memory.SkippedList](ctx, c, wire.Skipped, req, repeatable)
}

// Trust implements memory.Sources.
func (c *Client) Trust(ctx context.Context, req memory.TrustRequest) (*memory.TrustState, error) {
	return post[memory.TrustState](ctx, c, wire.Trust, req, repeatable)
}

// Check implements memory.Doctor.
func (c *Client) Check(ctx context.Context) (*memory.CheckReport, error) {
	return post[memory.CheckReport](ctx, c, wire.Check, struct{}{}, repeatable)
}

// Pause implements memory.Repositories.
func (c *Client) Pause(ctx context.Context, req memory.PauseRequest) (*memory.Paused, error) {
	return post[memory.Paused](ctx, c, wire.Pause, req, repeatable)
}

// Files implements memory.Repositories.
func (c *Client) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	return post[memory.FileList](ctx, c, wire.Files, req, repeatable)
}
