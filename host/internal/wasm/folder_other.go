//go:build !unix

package wasm

// privateFolder trusts the folder's access list, which a user's own cache folder inherits.
func privateFolder(string) error { return nil }
