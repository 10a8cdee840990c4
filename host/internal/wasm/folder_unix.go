//go:build unix

package wasm

import (
	"fmt"
	"os"
	"syscall"
)

// privateFolder makes sure that only this user can put code into dir.
func privateFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, not to %d, and native code is run from it; choose another folder", st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}
