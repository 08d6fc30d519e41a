// Package gittest makes repositories for tests: hostile ones, which try to run a program or
// to keep their reader waiting, and fake ones, which need no git. It also runs git for tests.
package gittest
