package cli

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/memory"
)

// releases is the page of releases.
const releases = "https://github.com/recalld/recalld/releases"

// checkTimeout bounds the question for the newest release.
const checkTimeout = 10 * time.Second

// newestVersion is what version --check adds.
type newestVersion struct {
	Version string `json:"version"`
	// Newer says that it is newer than this program; false where this program's version is
	// unknown.
	Newer bool `json:"newer"`
	// Upgrade is the command that installs it, by where this program is; or a page.
	Upgrade string `json:"upgrade,omitempty"`
}

// newest asks the page of releases for the newest one: it redirects to that one's page. Even
// a request without a version or an id tells a server that this address runs recalld, so
// nothing but the user's own --check makes one. It replaces no program: package managers
// have a record of theirs.
func (a *App) newest(ctx context.Context) (*newestVersion, error) {
	failed := func(message string, cause error) error {
		return &memory.Error{Code: memory.CodeUnavailable, Message: message, Hint: "look at " + releases, Cause: cause}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, a.opts.Releases+"/latest", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the newest release: %w", err)
	}
	request.Header.Set("User-Agent", "recalld")
	asker := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := asker.Do(request)
	if err != nil {
		return nil, failed("the page of releases cannot be reached: "+err.Error(), err)
	}
	_ = response.Body.Close() // it has none
	version := path.Base(response.Header.Get("Location"))
	if !buildinfo.Valid(version) {
		return nil, failed(fmt.Sprintf("the page of releases names none (HTTP status %d)", response.StatusCode), nil)
	}
	n := &newestVersion{Version: version, Newer: buildinfo.Newer(version, buildinfo.Version())}
	if n.Newer {
		n.Upgrade = upgradeCommand(a.opts.Executable, version)
	}
	return n, nil
}

// upgradeCommand is how a program is upgraded, by the folder that each way of installing has.
func upgradeCommand(program, version string) string {
	program = filepath.ToSlash(resolved(program))
	for _, way := range []struct{ place, command string }{
		{"/node_modules/", "npm install -g recalld@latest"},
		{"/Caskroom/", "brew upgrade --cask recalld"},
		{"/scoop/apps/", "scoop update recalld"},
		{"/go/bin/", "go install github.com/recalld/recalld/cmd/recalld@latest"},
		{"/.local/bin/", "curl -fsSL " + releases + "/latest/download/install.sh | sh"},
	} {
		if strings.Contains(program, way.place) {
			return way.command
		}
	}
	return releases + "/tag/" + version
}
