package sessiondir

import "github.com/recalld/recalld/internal/memory"

// decodeSession reads the text of a session file, whose fields may all be
// missing, and its version. The error is errNotJSON or names a field.
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
	// Neither is the contract's own: of another kind they mean something else.
	if _, _, ok := timeOf(in.fields["endedAt"]); ok {
		s.EndedAt = in.time("endedAt")
	}
	if string(in.fields["screenshots"]) == "true" {
		s.Screenshots, _ = in.flag("screenshots")
	}
	s.Extra = in.rest()
	return s, version, *in.err
}

// encodeSession writes a session file. Two fields are not the contract's own:
// endedAt, and screenshots where the session asked for pictures. Which project
// and client it was of, files do not say.
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
