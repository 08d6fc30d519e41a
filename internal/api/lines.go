package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/recalld/recalld/internal/memory/wire"
)

// lineWriter answers with a JSON value per line, each sent at once.
type lineWriter struct {
	w     http.ResponseWriter
	begun bool
}

func (l *lineWriter) send(event any) {
	if !l.begun {
		l.w.Header().Set("Content-Type", wire.MIMELine)
		l.begun = true
	}
	line, err := json.Marshal(event)
	if err != nil { // values of our own: cannot happen
		panic(fmt.Errorf("encode %T: %w", event, err))
	}
	// A client that is gone ends the request's context, and with it the work.
	_, _ = l.w.Write(append(line, '\n'))
	_ = http.NewResponseController(l.w).Flush()
}
