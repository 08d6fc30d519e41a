//go:build conformance

package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
)

// A picture of one pixel and a sound without samples.
const (
	fixturePNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
	fixtureWAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

// addFixtures adds the tools, resources and prompts that the protocol's conformance suite
// (@modelcontextprotocol/conformance) expects of a server; see make conformance.
func (s *Server) addFixtures() {
	image := mcpgo.NewImageContent(fixturePNG, "image/png")
	resource := func(uri, kind, text string) mcpgo.Content {
		return mcpgo.NewEmbeddedResource(mcpgo.TextResourceContents{URI: uri, MIMEType: kind, Text: text})
	}
	for name, content := range map[string][]mcpgo.Content{
		"test_simple_text":       {mcpgo.NewTextContent("This is a simple text response for testing.")},
		"test_image_content":     {image},
		"test_audio_content":     {mcpgo.NewAudioContent(fixtureWAV, "audio/wav")},
		"test_embedded_resource": {resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {mcpgo.NewTextContent("Multiple content types test:"), image,
			resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)},
	} {
		s.fixture(name, func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return &mcpgo.CallToolResult{Content: content}, nil
		})
	}
	s.fixture("test_error_handling", func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return mcpgo.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	s.fixture("test_tool_with_logging", func(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			logTo(ctx, mcpgo.LoggingLevelInfo, text)
			time.Sleep(50 * time.Millisecond)
		}
		return mcpgo.NewToolResultText("done"), nil
	})
	s.fixture("test_tool_with_progress", func(ctx context.Context, request mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		report := reporter(ctx, request)
		for done := 0; done <= 100; done += 50 {
			if report != nil {
				report(memory.Progress{FilesDone: done, FilesTotal: 100})
			}
			time.Sleep(50 * time.Millisecond)
		}
		return mcpgo.NewToolResultText("done"), nil
	})
	for uri, contents := range map[string]mcpgo.ResourceContents{
		"test://static-text":   mcpgo.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."},
		"test://static-binary": mcpgo.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: fixturePNG},
	} {
		s.mcp.AddResource(mcpgo.NewResource(uri, uri), func(context.Context, mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
			return []mcpgo.ResourceContents{contents}, nil
		})
	}
	s.mcp.AddResourceTemplate(mcpgo.NewResourceTemplate("test://template/{id}/data", "template"),
		func(_ context.Context, request mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
			id := strings.Split(request.Params.URI, "/")[3]
			return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: request.Params.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}}, nil
		})
	says := func(content ...mcpgo.Content) server.PromptHandlerFunc {
		return func(_ context.Context, request mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
			result := &mcpgo.GetPromptResult{}
			for _, c := range content {
				if text, ok := c.(mcpgo.TextContent); ok {
					for name, value := range request.Params.Arguments {
						text.Text = strings.ReplaceAll(text.Text, "{"+name+"}", value)
					}
					c = text
				}
				if e, ok := c.(mcpgo.EmbeddedResource); ok {
					e.Resource = mcpgo.TextResourceContents{URI: request.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}
					c = e
				}
				result.Messages = append(result.Messages, mcpgo.NewPromptMessage(mcpgo.RoleUser, c))
			}
			return result, nil
		}
	}
	s.mcp.AddPrompt(fixturePrompt("test_simple_prompt"), says(mcpgo.NewTextContent("This is a simple prompt for testing.")))
	s.mcp.AddPrompt(fixturePrompt("test_prompt_with_arguments", "arg1", "arg2"),
		says(mcpgo.NewTextContent("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")))
	s.mcp.AddPrompt(fixturePrompt("test_prompt_with_embedded_resource", "resourceUri"),
		says(mcpgo.EmbeddedResource{Type: "resource"}, mcpgo.NewTextContent("Please process the embedded resource above.")))
	s.mcp.AddPrompt(fixturePrompt("test_prompt_with_image"), says(image, mcpgo.NewTextContent("Please analyze the image above.")))
}

func (s *Server) fixture(name string, handle server.ToolHandlerFunc) {
	s.mcp.AddTool(mcpgo.NewTool(name, mcpgo.WithDescription("A tool of the conformance suite.")), handle)
}

func fixturePrompt(name string, arguments ...string) mcpgo.Prompt {
	prompt := mcpgo.NewPrompt(name, mcpgo.WithPromptDescription("A prompt of the conformance suite."))
	for _, a := range arguments {
		prompt.Arguments = append(prompt.Arguments, mcpgo.PromptArgument{Name: a, Required: true})
	}
	return prompt
}
