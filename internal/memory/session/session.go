// Package session holds the types of sessions: steps and their tree of files
// (contract 1), working memory (contract 3), discovered tools (contract 5) and
// tracked context (contract 6).
package session
