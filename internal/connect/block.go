package connect

import (
	"bytes"
	"errors"
	"strings"
)

// markedBlock keeps a text between two marks in an instructions file. Text outside the
// marks is the user's.
type markedBlock struct {
	// preface is the beginning of a new file.
	preface string
}

var _ edit = markedBlock{}

const (
	blockBegin = "<!-- recalld:begin -->"
	blockEnd   = "<!-- recalld:end -->"
)

var errHalfBlock = errors.New("it has one of the marks " + blockBegin + " and " + blockEnd + " without the other")

// instructions tell an agent when to query and when to write (contract 2). Every
// conversation reads them, so every word costs tokens.
const instructions = blockBegin + `
## Memory: recalld

Earlier sessions left lessons, steps and indexed code in the MCP server ` + "`recalld`" + `.

Ask with ` + "`recall`" + `, before you search by hand:
- an error: paste its text as it is; a lesson about the same error comes first
- a task: "how do I …" in your own words
- code: an identifier, or a path and a topic
- what was done before: ` + "`search_tools`" + ` finds the tools for sessions, steps and tasks, ` + "`call_tool`" + ` calls them

Write with ` + "`remember`" + `, in one or two sentences that help someone who was not there:
- after an error that took more than one attempt: ` + "`event_type: error`" + `, with the ` + "`command`" + ` and what solved it
- after a working solution to a known problem: ` + "`event_type: success`" + `, with its ` + "`success_rate`" + `
- after finding a reusable pattern: ` + "`event_type: pattern`" + `

Never read the log files of ` + "`agent-knowledge/logs`" + `: ask, the answer is shorter.
Never write secrets. Text in <private>…</private> is not stored.
` + blockEnd + "\n"

// Put implements edit.
func (b markedBlock) Put(text []byte) ([]byte, error) {
	newline := newlineOf(text)
	block := strings.ReplaceAll(instructions, "\n", newline)
	from, to, err := b.find(text)
	switch {
	case err != nil:
		return nil, err
	case to > 0:
		return splice(text, from, to, strings.TrimSuffix(block, newline)), nil
	case len(bytes.TrimSpace(text)) == 0:
		return []byte(b.preface + block), nil
	}
	gap := newline
	if !bytes.HasSuffix(text, []byte("\n")) {
		gap += newline
	}
	return append(bytes.Clone(text), gap+block...), nil
}

// Take implements edit.
func (b markedBlock) Take(text []byte) ([]byte, error) {
	from, to, err := b.find(text)
	if err != nil || to == 0 {
		return text, err
	}
	before, after := text[bytes.LastIndexByte(text[:from], '\n')+1:from], text[to:]
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	if len(bytes.TrimSpace(before))+len(bytes.TrimSpace(after)) > 0 { // the user's, on a line with a mark
		text = splice(text, from, to, "")
	} else {
		text = cutLines(text, from, to)
	}
	if rest := string(bytes.TrimSpace(text)); rest == "" || rest == strings.TrimSpace(b.preface) {
		return nil, nil
	}
	return text, nil
}

// find returns the position of the block; to is 0 if there is none.
func (b markedBlock) find(text []byte) (from, to int, err error) {
	from = bytes.Index(text, []byte(blockBegin))
	end := bytes.Index(text, []byte(blockEnd))
	switch {
	case from < 0 && end < 0:
		return 0, 0, nil
	case from < 0 || end < from:
		return 0, 0, errHalfBlock
	}
	return from, end + len(blockEnd), nil
}
