package service

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
)

// Protocol is the number of the protocol spoken here. It grows when an older
// daemon would refuse or misunderstand what a newer client sends: a new field
// that clients send by themselves counts, because requests are decoded strictly; a
// new field of a response does not. Client and daemon compare it, never their
// versions, and a newer client stops an older daemon.
//
// 2: Caller.Window.
const Protocol = 2

// ProtocolHeader carries the protocol's number in every request of a client and
// in every response. A request without it, for example from curl, is taken as the
// daemon's own.
const ProtocolHeader = "X-Recalld-Protocol"

// NoticeHeader is in every response while something is wrong that concerns all of them,
// such as a store that has lost data.
const NoticeHeader = "X-Recalld-Notice"

// Metrics is the route of the page for Prometheus. It is no operation.
const Metrics = "/metrics"

// The content types.
const (
	MIMEJSON = "application/json"     // requests and responses
	MIMELine = "application/x-ndjson" // responses of streams: an Event per line
)

// Greeting is the response to Hello.
type Greeting struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	// Data is the data folder served.
	Data string `json:"data"`
}

// ErrorBody is the body of a failed call.
type ErrorBody struct {
	Error *memory.Error `json:"error"`
}

// Event is one line of a stream: progress, or, as the last line, the response or the
// error.
type Event struct {
	Progress json.RawMessage `json:"progress,omitempty"`
	Done     json.RawMessage `json:"done,omitempty"`
	Error    *memory.Error   `json:"error,omitempty"`
}
