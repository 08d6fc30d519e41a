package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
)

// The JSON-RPC codes in use, from the JSON-RPC 2.0 specification, section 5.1.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	// codeUnavailable lies in the range reserved for servers.
	codeUnavailable = -32001
)

// envelope is the outside of one JSON-RPC message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type messageKind int

const (
	kindInvalid messageKind = iota
	kindRequest
	kindNotification
	kindResponse
)

// kind says what a message is. An id must be a string or a number.
func (e envelope) kind() messageKind {
	switch {
	case len(e.ID) == 0 && e.Method != "":
		return kindNotification
	case len(e.ID) == 0 || (e.ID[0] != '"' && e.ID[0] != '-' && (e.ID[0] < '0' || e.ID[0] > '9')):
		return kindInvalid
	case e.Method == "":
		return kindResponse
	}
	return kindRequest
}

// version is the version of the protocol that a message names, as every request does
// since 2026-07-28; empty if it names none.
func (e envelope) version() (version string) {
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(e.Params, &params) == nil {
		_ = json.Unmarshal(params.Meta[mcpgo.MetaKeyProtocolVersion], &version) // absent: stays empty
	}
	return version
}

// modern says whether a message is of a version without sessions.
func (e envelope) modern() bool { return mcpgo.IsModernProtocol(e.version()) }

// parseEnvelope reads the outside of a message. JSON that is not UTF-8 is
// refused (RFC 8259, section 8.1): decoding would put replacement characters
// into what is remembered. The envelope returned with a fault holds the id if
// it could be read.
func parseEnvelope(message []byte) (envelope, *fault) {
	var e envelope
	if err := json.Unmarshal(message, &e); err != nil {
		if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); !wrongType {
			return envelope{}, &fault{Code: codeParse, Text: "the message is not valid JSON"}
		}
		return e, &fault{Code: codeInvalidRequest, Text: "the message is not a JSON-RPC object"}
	}
	if !utf8.Valid(message) {
		return e, &fault{Code: codeParse, Text: "the message is not valid UTF-8"}
	}
	return e, nil
}

// fault is what is wrong with a message: the error of JSON-RPC.
type fault struct {
	Code int             `json:"code"`
	Text string          `json:"message"`
	Data json.RawMessage `json:"data,omitempty"` // a memory.Error, if it is one
}

// answer is the message with the fault; a nil id is sent as null.
func (f *fault) answer(id json.RawMessage) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	message, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *fault          `json:"error"`
	}{"2.0", id, f})
	if err != nil { // the id was not JSON, so no request waits for it
		return f.answer(nil)
	}
	return message
}

func rpcError(id json.RawMessage, code int, text string) []byte {
	return (&fault{Code: code, Text: text}).answer(id)
}

// rpcRefusal answers a message that was not taken, with the code and the next step of a
// memory.Error, as refusal does for a call.
func rpcRefusal(id json.RawMessage, code int, err error) []byte {
	f := &fault{Code: code, Text: "recalld: " + err.Error()}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		f.Text = fmt.Sprintf("recalld: %s: %v", e.Code, err)
		if e.Hint != "" {
			f.Text += "; " + e.Hint
		}
		f.Data, _ = json.Marshal(e) // strings and a number
	}
	return f.answer(id)
}

// oneLine brings a JSON message into the form that stdio carries: no line
// breaks inside.
func oneLine(message []byte) []byte {
	message = bytes.TrimSpace(message)
	if bytes.IndexByte(message, '\n') < 0 && bytes.IndexByte(message, '\r') < 0 {
		return message
	}
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return nil
	}
	return line.Bytes()
}
