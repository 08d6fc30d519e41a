package mcp

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// The addresses of what is remembered. People attach them in a client, and answers may be
// read again by them.
const (
	resourceScheme  = "recalld://"
	projectResource = resourceScheme + "project"
	lessonResource  = resourceScheme + "lesson/{id}"
	sessionResource = resourceScheme + "session/{id}"
	turnResource    = resourceScheme + "turn/{session}/{turn}"
)

// maxCompletions is how many values one completion may have, by the protocol.
const maxCompletions = 100

func (s *Server) addResources() {
	const kind = "text/markdown"
	read := func(ctx context.Context, _ mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
		w := writerOf(ctx)
		if w == nil {
			return nil, memory.Errorf(memory.CodeInternal, "a resource is read over HTTP only")
		}
		return w.resource, w.wrong
	}
	project := mcpgo.NewResource(projectResource, "project", mcpgo.WithMIMEType(kind),
		mcpgo.WithResourceDescription("What was done last in this project, and what is blocked."))
	project.Title = "Summary of the project"
	s.mcp.AddResource(project, read)
	for _, r := range []struct{ uri, name, title, description string }{
		{lessonResource, "lesson", "A lesson", "One lesson, by its id."},
		{sessionResource, "session", "A session", "The steps of one session, its failures and what recovered them."},
		{turnResource, "turn", "The context of a turn", "What one turn of a session was given, and why."},
	} {
		template := mcpgo.NewResourceTemplate(r.uri, r.name, mcpgo.WithTemplateMIMEType(kind), mcpgo.WithTemplateDescription(r.description))
		template.Title = r.title
		s.mcp.AddResourceTemplate(template, read)
	}
}

// onRead reads a resource before mcp-go does: it answers with the protocol's own code only
// where no resource is known by an address, so one that does not exist gets another.
func (s *Server) onRead(ctx context.Context, _ any, request *mcpgo.ReadResourceRequest) {
	w := writerOf(ctx)
	if w == nil || !strings.HasPrefix(request.Params.URI, resourceScheme) {
		return
	}
	text, err := s.readResource(ctx, request.Params.URI, request.Header)
	if err != nil {
		if e := memory.AsError(err); e.Code == memory.CodeNotFound || e.Code == memory.CodeInvalidInput && e.Field != "project" {
			w.fault = e.Message
			request.Params.URI += " " // no template has a space
		}
		w.wrong = err
		return
	}
	w.resource = []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: request.Params.URI, MIMEType: "text/markdown", Text: render.Visible(text)}}
}

// readResource returns the text of a resource; stored text in it is fenced.
func (s *Server) readResource(ctx context.Context, uri string, header http.Header) (string, error) {
	parts := strings.Split(strings.TrimPrefix(uri, resourceScheme), "/")
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil {
			return "", memory.Invalid("uri", "a resource of recalld", "%q is not an address", uri)
		}
	}
	c := s.call(ctx, header)
	project := c.project()
	switch {
	case uri == projectResource:
		r, err := service.TaskWindow.Do(ctx, s.svc, memory.TaskWindowRequest{Project: project, Caller: c.caller})
		if err != nil {
			return "", err
		}
		return fence(r.Text), nil
	case parts[0] == "lesson" && len(parts) == 2:
		r, err := service.Recall.Do(ctx, s.svc, memory.RecallRequest{IDs: parts[1:], Project: project, Caller: c.caller})
		if err != nil && !(memory.CodeOf(err) == memory.CodeInvalidInput && strings.HasPrefix(memory.AsError(err).Field, "ids")) {
			return "", err
		}
		if err != nil || len(r.Items) == 0 { // what cannot be an id is none
			return "", memory.Errorf(memory.CodeNotFound, "no lesson has the id %s", memory.Quote(parts[1]))
		}
		return r.Text, nil // recall fences it
	case parts[0] == "session" && len(parts) == 2:
		r, err := service.SummarizeSession.Do(ctx, s.svc, memory.SummarizeRequest{Scope: &memory.Scope{Session: parts[1]}, Project: project, Caller: c.caller})
		if err != nil {
			return "", err
		}
		return fence(render.Compact(whole(r))), nil
	case parts[0] == "turn" && len(parts) == 3:
		turn, err := strconv.Atoi(parts[2])
		if err != nil || turn < 1 {
			return "", memory.Invalid("turn", "1–1000000", "%q is not the number of a turn", parts[2])
		}
		r, err := service.ContextOf.Do(ctx, s.svc, memory.ContextOfRequest{Turn: turn, SessionRef: memory.SessionRef{SessionID: parts[1], Project: project, Caller: c.caller}})
		if err != nil {
			return "", err
		}
		if r.Record == nil { // a tool may say so, an address leads nowhere
			return "", memory.Errorf(memory.CodeNotFound, "the session %s has no record of a turn %d", memory.Quote(parts[1]), turn)
		}
		return turnText(r), nil
	}
	return "", memory.Errorf(memory.CodeNotFound, "recalld has no resource %s", memory.Quote(uri))
}

// completions completes the ids in the addresses of resources.
type completions struct{ s *Server }

var _ server.ResourceCompletionProvider = completions{}

// CompleteResourceArgument lists the newest ids that begin as the argument does. What
// cannot be listed has no completions.
func (c completions) CompleteResourceArgument(ctx context.Context, uri string, argument mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	header := http.Header{}
	if w := writerOf(ctx); w != nil {
		header = w.request.Header
	}
	by := c.s.call(ctx, header)
	project := by.project()
	var ids []string
	switch {
	case uri == lessonResource:
		if r, err := service.Lessons.Do(ctx, c.s.svc, memory.LessonsRequest{Limit: 1000, Project: project, Caller: by.caller}); err == nil {
			for _, item := range r.Lessons {
				ids = append(ids, item.ID)
			}
		}
	case uri == sessionResource, uri == turnResource && argument.Name == "session":
		if r, err := service.Sessions.Do(ctx, c.s.svc, memory.SessionsRequest{Limit: 50, Project: project, Caller: by.caller}); err == nil {
			for _, view := range r.Sessions {
				ids = append(ids, view.SessionID)
			}
		}
	}
	answer := &mcpgo.Completion{Values: []string{}}
	for _, id := range ids {
		if strings.HasPrefix(id, argument.Value) {
			answer.Values = append(answer.Values, id)
		}
	}
	answer.Total = len(answer.Values)
	if answer.HasMore = answer.Total > maxCompletions; answer.HasMore {
		answer.Values = answer.Values[:maxCompletions]
	}
	return answer, nil
}
