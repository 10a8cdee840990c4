//go:build !wasip1

package sdk

import (
	"embed"
	"io/fs"
)

//go:embed *.go
var sources embed.FS

// Sources holds this package's own Go files, relative to its folder. A program can serve them to a plugin author's toolchain where there
// is no network. Guests do not carry it.
func Sources() fs.FS { return sources }
