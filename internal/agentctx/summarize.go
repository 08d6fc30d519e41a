package agentctx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// summarize lets the chat model write the summary of a session. A refused summary is
// requested once more, with the reason; a second refusal is returned. CodeUnavailable if no
// model is configured or it does not answer.
func (s *Contexts) summarize(ctx context.Context, session memory.Session, wc *memory.WorkingContext, tools []memory.ToolRef, transcript string) (text, model string, err error) {
	if s.opts.Summarizer == nil {
		return "", "", &memory.Error{
			Code: memory.CodeUnavailable, Field: "summary", Message: "no summary is given, and no model is configured to write one",
			Hint: "give a summary, or name a chat model in context.summary_model of the settings",
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.SummaryTimeout)
	defer cancel()
	steps, err := s.opts.Recall.SummarizeSession(ctx, memory.SummarizeRequest{
		Project: session.Project, Scope: &memory.Scope{Session: session.ID},
	})
	if err != nil {
		// The conversation can be summarized without steps.
		s.opts.Logger.Warn("a summary is written without the steps", "part", "session", "session", session.ID, "error", err)
		steps = &memory.Summary{}
	}
	// Secrets are removed before the text is cut, because half a secret is not recognized.
	// Stored text has none, but a model elsewhere is worth a second look.
	s.clean(&transcript)
	prompt := prompt(summaryInput{
		goal: session.Goal, before: wc.Summary, steps: steps, entities: wc.Entities, transcript: newest(transcript, maxTranscript),
	})
	s.clean(&prompt)
	tools = slices.Concat(tools, wc.UsedTools, wc.DiscoveredTools)
	query := prompt
	var refused error
	for range 2 {
		if text, model, err = s.opts.Summarizer.Summarize(ctx, query); err != nil {
			return "", "", notWritten(err)
		}
		if text, _ = s.opts.Writer.Clean(text, memory.MaxSummary); text == "" {
			return "", "", notWritten(errors.New("it wrote nothing"))
		}
		if refused = checkSummary(text, tools); refused == nil {
			return text, model, nil
		}
		query = fmt.Sprintf("%s\n\nA summary was written before and refused: %v. Write it so that this is not so.\n", prompt, refused)
	}
	e := memory.AsError(refused)
	e.Message, e.Hint = fmt.Sprintf("%s wrote it twice so that it cannot be kept: %s", cmp.Or(model, "the model"), e.Message), "give a summary"
	return "", "", e
}

// notWritten is the error for a model that wrote no summary.
func notWritten(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &memory.Error{
		Code: memory.CodeUnavailable, Field: "summary", Message: "the model did not write a summary: " + err.Error(),
		Hint: "give a summary", Cause: err,
	}
}

// Limits of a prompt: some 9,000 tokens together, which local models can read.
const (
	maxTranscript     = 24_000 // characters, the newest
	maxPromptSteps    = 60     // the last ones
	maxPromptEntities = 100    // the last ones
)

// summaryInput is the material of a summary.
type summaryInput struct {
	goal       string
	before     string // the summary of the last compaction
	steps      *memory.Summary
	entities   []memory.Entity
	transcript string
}

// instructions ask for the summary of contract 5.
const instructions = `Summarise the conversation below between a user and an agent, so that the agent can go on from your summary alone.

Begin with: "Continuing our conversation about [topic]. Here's where we are:"

Then say, in at most 700 words of plain text:
- what was accomplished;
- the current state, and which tasks are half done;
- what the user prefers, and which options were rejected;
- what comes next, and which questions are open;
- technical ids (paths, branches, numbers, names) and states of errors, exactly as they are written.

Say what was done, never with which tool: no name of a tool or function that the agent called may occur. Invent nothing.
`

// prompt returns the prompt for a summary.
func prompt(m summaryInput) string {
	var b strings.Builder
	b.WriteString(instructions)
	if m.goal != "" {
		b.WriteString("\n# Goal\n" + m.goal + "\n")
	}
	if m.before != "" {
		b.WriteString("\n# Before this conversation\n" + m.before + "\n")
	}
	if steps := stepNotes(m.steps); len(steps) > 0 {
		b.WriteString("\n# Steps that were taken\n" + strings.Join(steps, "\n") + "\n")
	}
	if n := len(m.entities); n > 0 {
		b.WriteString("\n# What it dealt with\n")
		for _, e := range m.entities[max(0, n-maxPromptEntities):] {
			b.WriteString("- " + strings.Join(slices.DeleteFunc([]string{e.Type, e.ID, e.Name}, func(s string) bool { return s == "" }), " ") + "\n")
		}
	}
	if m.transcript != "" {
		b.WriteString("\n# Conversation\n" + m.transcript + "\n")
	}
	return b.String()
}

// stepNotes returns the last steps and the unrecovered failures, without names of tools,
// which the model would repeat.
func stepNotes(s *memory.Summary) []string {
	var lines []string
	for _, step := range s.Recipe[max(0, len(s.Recipe)-maxPromptSteps):] {
		if step.Notes != "" {
			lines = append(lines, fmt.Sprintf("%d. %s", step.StepNumber, step.Notes))
		}
	}
	for _, f := range s.Failures {
		if f.RecoveredBy == 0 && f.Error != "" {
			lines = append(lines, fmt.Sprintf("Step %d failed and was not recovered: %s", f.StepNumber, f.Error))
		}
	}
	return lines
}

// newest returns the last characters of a text, from the beginning of a line if there is
// one.
func newest(text string, most int) string {
	n := 0
	for i := len(text); i > 0; {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
		if n++; n == most && i > 0 {
			tail := text[i:]
			if _, rest, ok := strings.Cut(tail, "\n"); ok && rest != "" {
				tail = rest
			}
			return "[what came before is left out]\n" + tail
		}
	}
	return text
}
