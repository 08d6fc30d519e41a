package project

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// markOf is a folder's number in the volume's file table and its creation time.
func markOf(folder string) string {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return ""
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// Opening a folder requires FILE_FLAG_BACKUP_SEMANTICS.
	h, err := windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h) // only read
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil || info.CreationTime.Nanoseconds() <= 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d", uint64(info.FileIndexHigh)<<32|uint64(info.FileIndexLow), info.CreationTime.Nanoseconds())
}
