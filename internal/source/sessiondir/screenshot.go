package sessiondir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// MaxPicture is the largest picture that is stored, in bytes.
const MaxPicture = 10 << 20

const maxPictureText = "at most 10485760 bytes"

// StoreScreenshot copies the picture of a step into the folder of its session and returns
// its path in that folder, with slashes, for artifacts.screenshot. If the session did not
// ask for pictures, or the step has none, it stores nothing and returns name. The picture
// must lie in root, the sandbox: name is relative to it, or absolute and inside. The same
// picture always gives the same path. It returns CodeForbidden for a name that leads out
// of root or to anything but a regular file, CodeNotFound, CodeInvalidInput if the
// content is not PNG, JPEG or WebP or is larger than MaxPicture, and the errors of
// WriteSession.
func StoreScreenshot(root, dir string, s memory.Session, name string) (artifact string, err error) {
	if !s.Screenshots || name == "" {
		return name, nil
	}
	picture, err := readPicture(root, name)
	if err != nil {
		return "", fmt.Errorf("read screenshot: %w", err)
	}
	kind := pictureKind(picture)
	if kind == "" {
		return "", memory.Invalid("artifacts.screenshot", "PNG, JPEG or WebP", "%s is not an image of a stored format", memory.Quote(name))
	}
	at, _, err := sessionFolder(root, dir, s.ID)
	if err != nil {
		return "", fmt.Errorf("open session folder: %w", err)
	}
	defer at.Close() // only its handle
	pictures, err := openFolder(at, picturesFolder, true)
	if err != nil {
		return "", fmt.Errorf("open screenshots folder: %w", err)
	}
	defer pictures.Close() // only its handle
	base := filepath.Base(filepath.FromSlash(name))
	stored := safeName(strings.TrimSuffix(base, filepath.Ext(base)), maxToolName) + "-" + shortHash(picture) + kind
	artifact = path.Join(picturesFolder, stored)
	if info, err := pictures.Lstat(stored); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(picture)) {
		return artifact, nil
	}
	if err := fsx.Replace(pictures, stored, picture, newFileMode); err != nil {
		return "", fmt.Errorf("write screenshot: %w", err)
	}
	return artifact, nil
}

// readPicture reads a file of the sandbox.
func readPicture(root, name string) ([]byte, error) {
	outside := &memory.Error{Code: memory.CodeForbidden, Field: "artifacts.screenshot", Limit: "a file of the sandbox",
		Message: fmt.Sprintf("%s does not lie in the sandbox", memory.Quote(name))}
	if !filepath.IsAbs(root) {
		return nil, outside
	}
	local, ok := below(root, name)
	if !ok {
		return nil, outside
	}
	sandbox, err := fsx.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer sandbox.Close() // only its handle
	info, err := sandbox.Stat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "artifacts.screenshot", Message: fmt.Sprintf("there is no %s", memory.Quote(name))}
	case err != nil: // most likely a link that leaves the sandbox
		outside.Cause = err
		return nil, outside
	case !info.Mode().IsRegular():
		outside.Message = fmt.Sprintf("%s is not a regular file", memory.Quote(name))
		return nil, outside
	}
	picture, err := fsx.ReadBeginning(sandbox, local, MaxPicture+1)
	if err == nil && len(picture) > MaxPicture {
		return nil, memory.Invalid("artifacts.screenshot", maxPictureText, "%s is too large", memory.Quote(name))
	}
	return picture, err
}

// below returns the path of a file in root. An absolute name may use a link that leads to
// root, such as /tmp on some systems.
func below(root, name string) (local string, ok bool) {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		return name, filepath.IsLocal(name)
	}
	if local, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(local) {
		return local, true
	}
	realRoot, errRoot := filepath.EvalSymlinks(root)
	realName, errName := filepath.EvalSymlinks(name)
	if errRoot != nil || errName != nil {
		return "", false
	}
	local, err := filepath.Rel(realRoot, realName)
	return local, err == nil && filepath.IsLocal(local)
}

// pictureKind returns the file extension of a picture by its first bytes, "" if it is
// none.
func pictureKind(picture []byte) string {
	switch {
	case bytes.HasPrefix(picture, []byte("\x89PNG\r\n\x1a\n")):
		return ".png"
	case bytes.HasPrefix(picture, []byte("\xFF\xD8\xFF")):
		return ".jpg"
	case len(picture) >= 12 && string(picture[:4]) == "RIFF" && string(picture[8:12]) == "WEBP":
		return ".webp"
	}
	return ""
}
