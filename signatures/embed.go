package signatures

import (
	"embed"
	"io/fs"
)

//go:embed packs
var embedded embed.FS

// Default returns the packs that are built in, as files for Load.
func Default() fs.FS {
	sub, err := fs.Sub(embedded, "packs")
	if err != nil {
		panic(err) // "packs" is a valid path
	}
	return sub
}
