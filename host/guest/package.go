package guest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// MaxPackage is the largest plugin file that is read, in bytes.
const MaxPackage = 64 << 20

// SelftestAsset is the asset that holds a package's own examples. The host reads it; the guest never sees it.
const SelftestAsset = "selftest.jsonl"

// Package is one plugin file, read once: what is checked is what runs. Treat it as read-only.
type Package struct {
	// Name is the manifest's name.
	Name string
	// Path is the file it came from; empty for one that is built in.
	Path string
	// SHA256 is the digest of the whole file.
	SHA256 [sha256.Size]byte
	// Module is the WebAssembly module without the packing.
	Module []byte
	// Manifest is nil only for a built-in module without a packing, which is asked for it when it is loaded.
	Manifest *v1.Manifest
	Assets   []*v1.Asset
	// Sidecar is true if the manifest came from a YAML file beside the module. Such a package has no digests.
	Sidecar bool
}

// Open reads a packed plugin. name is its path or another name for errors. data must not be changed afterwards.
//
// Errors are *abi.Error of kind refused or limit: not a module, cut off, without a manifest, with a manifest or digest that is wrong.
func Open(name string, data []byte) (*Package, error) {
	p, err := open(name, data)
	if err != nil {
		return nil, err
	}
	if p.Manifest == nil {
		return nil, refused(name, errors.New("the module has no manifest; pack it with `amygdala plugin pack`, or put one beside it as a .yaml file of the same name"))
	}
	return p, nil
}

// open is Open for a module that may have no packing.
func open(name string, data []byte) (*Package, error) {
	if len(data) > MaxPackage {
		return nil, abi.E("open plugin", v1.ErrorKindLimit, name, fmt.Errorf("the file has %d bytes, at most %d are read", len(data), MaxPackage))
	}
	own, err := sections(data)
	if err != nil {
		return nil, refused(name, err)
	}
	p := &Package{Path: name, SHA256: sha256.Sum256(data), Module: without(data, own)}
	for _, s := range own {
		if err := p.unpack(s); err != nil {
			return nil, refused(name, err)
		}
	}
	if p.Manifest == nil {
		if len(own) > 0 {
			return nil, refused(name, errors.New("the packing has assets but no manifest; pack the plugin again"))
		}
		return p, nil
	}
	if err := checkManifest(p.Manifest); err != nil {
		return nil, refused(name, err)
	}
	if err := errors.Join(checkAssets(p.Assets), checkDigests(p.Manifest.Digests, p.Module, p.Assets)); err != nil {
		return nil, refused(name, err)
	}
	p.Name = p.Manifest.Name
	return p, nil
}

// unpack takes one section of the packing.
func (p *Package) unpack(s section) error {
	if asset, ok := strings.CutPrefix(s.name, abi.SectionAssetPrefix); ok {
		p.Assets = append(p.Assets, &v1.Asset{Name: asset, Data: s.body})
		return nil
	}
	switch {
	case s.name != abi.SectionManifest:
		return fmt.Errorf("unknown section %q; a newer amygdala may know it", s.name)
	case p.Manifest != nil:
		return fmt.Errorf("two sections %q; pack the plugin again", s.name)
	case len(s.body) > abi.MaxManifest:
		return fmt.Errorf("the manifest has %d bytes, at most %d are allowed", len(s.body), abi.MaxManifest)
	}
	p.Manifest = &v1.Manifest{}
	if err := p.Manifest.UnmarshalJSON(s.body); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return nil
}

// OpenFile reads a plugin file: packed, or a bare module with its manifest in a .yaml file of the same name beside it.
func OpenFile(path string) (*Package, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	p, err := open(path, data)
	if err != nil {
		return nil, err
	}
	sidecar := strings.TrimSuffix(path, ".wasm") + ".yaml"
	text, err := readFile(sidecar)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Manifest == nil:
		return Open(path, data)
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, err
	case p.Manifest != nil:
		return nil, refused(path, fmt.Errorf("the module is packed with a manifest, and %s beside it is another; remove one", sidecar))
	}
	if p.Manifest, err = ParseManifest(sidecar, text); err != nil {
		return nil, err
	}
	p.Name, p.Sidecar = p.Manifest.Name, true
	return p, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, abi.E("open plugin", v1.ErrorKindIO, path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxPackage+1))
	if err != nil {
		return nil, abi.E("open plugin", v1.ErrorKindIO, path, err)
	}
	return data, nil
}

func refused(name string, err error) error {
	return abi.E("open plugin", v1.ErrorKindRefused, name, err)
}

// Digest is SHA256 in hexadecimal.
func (p *Package) Digest() string { return hex.EncodeToString(p.SHA256[:]) }

// Version is the manifest's version, or "" before a built-in module was asked for its manifest.
func (p *Package) Version() string {
	if p.Manifest == nil {
		return ""
	}
	return p.Manifest.Version
}

// asset returns the data of one asset.
func (p *Package) asset(name string) ([]byte, bool) {
	for _, a := range p.Assets {
		if a.Name == name {
			return a.Data, true
		}
	}
	return nil, false
}

// guestAssets are the assets that the guest gets with CONFIGURE, in the order of their names.
func (p *Package) guestAssets() []*v1.Asset {
	var out []*v1.Asset
	for _, a := range p.Assets {
		if a.Name != SelftestAsset {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *v1.Asset) int { return strings.Compare(a.Name, b.Name) })
	return out
}
