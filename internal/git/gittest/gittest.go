// Package gittest makes repositories for tests: hostile ones, which try to have a
// program run or to keep their reader waiting, and fake ones, which need no git.
package gittest
