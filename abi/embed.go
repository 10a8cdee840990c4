//go:build !wasip1

package abi

import (
	"embed"
	"io/fs"
)

//go:embed ABI.md abi.go embed.go errors.go imports.go ops.go
//go:embed v1/*.proto v1/*.gen.go v1/doc.go v1/errors.go v1/json.go v1/strict.go v1/wire.go
var sources embed.FS

// Sources returns the Go and proto files of this package and of abi/v1, without tests: what an author needs to build a plugin
// offline against exactly the contract this program speaks. Paths are relative to the folder abi. Plugins do not carry it.
func Sources() fs.FS { return sources }
