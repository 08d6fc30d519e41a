package sessiondir

import "github.com/recalld/recalld/internal/memory"

// decodeSession decodes a session file, in which every field is optional, and returns its
// version. The error is errNotJSON or names a field.
func decodeSession(text []byte) (s memory.Session, version int, err error) {
	in, err := readInput(text)
	if err != nil {
		return s, 0, err
	}
	version = in.version()
	s = memory.Session{
		ID:        in.text("sessionId"),
		CreatedAt: in.time("createdAt"),
		Goal:      in.text("goal"),
		FlowTags:  in.list("flowTags"),
		Tags:      in.list("tags"),
		Build:     in.raw("build"),
		Git:       readGit(in),
		Launch:    in.raw("launch"),
	}
	// Neither is in the contract: with another type it has another meaning.
	if _, _, ok := timeOf(in.fields["endedAt"]); ok {
		s.EndedAt = in.time("endedAt")
	}
	if string(in.fields["screenshots"]) == "true" {
		s.Screenshots, _ = in.flag("screenshots")
	}
	s.Extra = in.rest()
	return s, version, *in.err
}

// encodeSession encodes a session file. Two fields are not in the contract: endedAt, and
// screenshots if the session asked for pictures. Project and client are not written.
func encodeSession(s memory.Session) ([]byte, error) {
	out := newOutput(s.Extra)
	out.version()
	out.text("sessionId", s.ID)
	out.time("createdAt", s.CreatedAt)
	out.time("endedAt", s.EndedAt)
	out.text("goal", s.Goal)
	out.list("flowTags", s.FlowTags)
	out.list("tags", s.Tags)
	out.raw("build", s.Build)
	writeGit(out, s.Git)
	out.raw("launch", s.Launch)
	out.flag("screenshots", s.Screenshots)
	return out.file()
}
