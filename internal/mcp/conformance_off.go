//go:build !conformance

package mcp

// addFixtures adds what the protocol's conformance suite calls, with the build tag
// conformance only.
func (s *Server) addFixtures() {}
