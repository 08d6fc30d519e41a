package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readEvents calls each for the data of every event of a server-sent event
// stream (WHATWG HTML, section 9.2) until the stream ends. Fields other than
// data are of no use here. An event of more than max bytes is an error.
func readEvents(stream io.Reader, max int, each func(data []byte)) error {
	reader := bufio.NewReaderSize(stream, 32<<10)
	var data []byte
	for {
		l, err := readLine(reader, max)
		if l.tooLong || len(data)+len(l.text) > max {
			return fmt.Errorf("read event: longer than %d bytes", max)
		}
		text := bytes.TrimRight(l.text, "\r\n")
		switch value, isData := bytes.CutPrefix(text, []byte("data:")); {
		case isData:
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case len(text) == 0 && len(l.text) > 0 && len(data) > 0:
			each(data)
			data = nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read event: %w", err)
		}
	}
}
