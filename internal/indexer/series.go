package indexer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// turn is the place of a reference in a conversation: the beginning that the names of the
// turns share, and the number in the name.
type turn struct {
	of string
	at int
}

const (
	// maxTurn is the longest turn, in bytes, maxSpeaker the longest label before one.
	maxTurn    = 2000
	maxSpeaker = 40
	// maxDigits bounds the number in a name; longer ones are ids, not places.
	maxDigits = 6
)

// turnOf returns the place that a reference's name gives it, "D1:3" or "chat/12", if its
// text is a turn: short, with its speaker before it. A number alone says nothing: the
// entries of a list are numbered as well. The zero turn is none.
func turnOf(name, text string) turn {
	digits := len(name) - len(strings.TrimRight(name, "0123456789"))
	stem := name[:len(name)-digits]
	if digits == 0 || digits > maxDigits || len(stem) < 2 || !strings.ContainsRune(":/#._- ", rune(stem[len(stem)-1])) {
		return turn{}
	}
	if len(text) > maxTurn || !spoken(text) {
		return turn{}
	}
	at, _ := strconv.Atoi(name[len(stem):]) // digits only
	return turn{strings.Clone(stem), at}
}

// spoken says whether a text begins with a speaker and a colon: "Ann: " or "**user**: ".
func spoken(text string) bool {
	label, _, found := strings.Cut(text[:min(len(text), maxSpeaker)], ":")
	label = strings.Trim(label, "*[]# ")
	first, _ := utf8.DecodeRuneInString(label)
	return found && unicode.IsLetter(first) && len(strings.Fields(label)) <= 3 &&
		!strings.ContainsFunc(label, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" .'-_", r)
		})
}

// place returns the series of a step or turn and its place in it, "" for all others. It is
// called with mu held.
func (x *Indexer) place(n uint32) (series string, at int) {
	e := &x.owners.all[n]
	if e.turn.of != "" {
		return e.turn.of, e.turn.at
	}
	if !e.is(memory.Step) || e.session == unnamed || x.sessions.loading {
		return "", 0
	}
	s := x.sessions.sessions[e.sessionKey()]
	if s == nil {
		return "", 0
	}
	if at = x.sessions.find(s.steps, n); at < 0 {
		return "", 0
	}
	return e.session.Value(), at
}
