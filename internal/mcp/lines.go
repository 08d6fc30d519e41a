package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// line is one line of input.
type line struct {
	text []byte
	// tooLong says that the line went over maxLine and was skipped.
	tooLong bool
	err     error
}

// readLines sends the lines of in until it ends, fails, or ctx ends; then it
// closes lines. The end of input in the middle of a line ends that line.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	defer close(lines)
	send := func(l line) bool {
		select {
		case lines <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		l, err := readLine(reader, maxLine)
		if (len(l.text) > 0 || l.tooLong) && !send(l) {
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				send(line{err: err})
			}
			return
		}
	}
}

// readLine reads up to the next line break. Of a line over max only the length
// is learned: its bytes are let go as they come.
func readLine(reader *bufio.Reader, max int) (line, error) {
	var l line
	for {
		part, err := reader.ReadSlice('\n')
		switch {
		case l.tooLong:
		case len(l.text)+len(part) > max:
			l = line{tooLong: true}
		default:
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
