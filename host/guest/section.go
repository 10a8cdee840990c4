package guest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// ownSections is the prefix of all custom sections that belong to the packing and not to the module.
const ownSections = "amygdala."

var (
	wasmHeader      = []byte("\x00asm\x01\x00\x00\x00")
	componentHeader = []byte("\x00asm\x0d\x00\x01\x00")
)

// section is one custom section of the packing, and where it stood in the file, header included.
type section struct {
	name       string
	body       []byte
	start, end int
}

// sections walks a module and returns the custom sections of the packing. Other sections are stepped over unread; the engine validates
// them.
func sections(data []byte) ([]section, error) {
	switch {
	case bytes.HasPrefix(data, wasmHeader):
	case bytes.HasPrefix(data, componentHeader):
		return nil, errors.New("this is a WebAssembly component; build a core module (for Go: GOOS=wasip1 GOARCH=wasm)")
	case len(data) < len(wasmHeader) && bytes.HasPrefix(wasmHeader, data):
		return nil, fmt.Errorf("the file has only %d bytes; is it still being written?", len(data))
	default:
		return nil, errors.New("this is not a WebAssembly module: it does not start with \\0asm and version 1")
	}
	var own []section
	for pos := len(wasmHeader); pos < len(data); {
		start := pos
		id := data[pos]
		size, n := uleb32(data[pos+1:])
		if n == 0 {
			return nil, fmt.Errorf("the section at byte %d has no readable size; the file is damaged or still being written", start)
		}
		pos += 1 + n
		if uint64(size) > uint64(len(data)-pos) {
			return nil, fmt.Errorf("the section at byte %d has %d bytes, but the file ends after %d of them; it is cut off or still being written", start, size, len(data)-pos)
		}
		body := data[pos : pos+int(size)]
		pos += int(size)
		if id != 0 {
			continue
		}
		s := section{start: start, end: pos}
		var ok bool
		if s.name, s.body, ok = customName(body); ok && strings.HasPrefix(s.name, ownSections) {
			own = append(own, s)
		}
	}
	return own, nil
}

// customName splits a custom section. A broken one is left for the engine to refuse.
func customName(body []byte) (name string, rest []byte, ok bool) {
	size, n := uleb32(body)
	if n == 0 || uint64(size) > uint64(len(body)-n) {
		return "", nil, false
	}
	return string(body[n : n+int(size)]), body[n+int(size):], true
}

// uleb32 reads an unsigned LEB128 number of at most 32 bits; n is 0 if there is none.
func uleb32(b []byte) (v uint32, n int) {
	x, n := binary.Uvarint(b[:min(len(b), 5)])
	if n <= 0 || x > 1<<32-1 {
		return 0, 0
	}
	return uint32(x), n
}

// without returns the module with the given sections cut out. They usually stand at the end, and then nothing is copied.
func without(data []byte, own []section) []byte {
	if len(own) == 0 {
		return data
	}
	if first := own[0].start; contiguous(own) && own[len(own)-1].end == len(data) {
		return data[:first:first]
	}
	out := make([]byte, 0, len(data))
	pos := 0
	for _, s := range own {
		out = append(out, data[pos:s.start]...)
		pos = s.end
	}
	return append(out, data[pos:]...)
}

func contiguous(own []section) bool {
	for i := 1; i < len(own); i++ {
		if own[i].start != own[i-1].end {
			return false
		}
	}
	return true
}

// appendSection writes one custom section.
func appendSection(dst []byte, name string, body []byte) []byte {
	inner := binary.AppendUvarint(nil, uint64(len(name)))
	inner = append(inner, name...)
	dst = append(dst, 0)
	dst = binary.AppendUvarint(dst, uint64(len(inner)+len(body)))
	return append(append(dst, inner...), body...)
}

// Pack writes a plugin file: the module, its assets, and the manifest with fresh digests. A packing that the module already has is
// replaced. The manifest's signature is dropped, since it no longer fits.
//
// Errors are kind invalid or refused: not a module, a manifest that the host would refuse, a bad asset.
func Pack(module []byte, m *v1.Manifest, assets []*v1.Asset) ([]byte, error) {
	own, err := sections(module)
	if err != nil {
		return nil, abi.E("pack", v1.ErrorKindRefused, m.Name, err)
	}
	module = without(module, own)
	packed := *m
	packed.Digests, packed.Signature = digests(module, assets), nil
	if err := checkManifest(&packed); err != nil {
		return nil, err
	}
	if err := checkAssets(assets); err != nil {
		return nil, abi.E("pack", v1.ErrorKindInvalid, m.Name, err)
	}
	out := slices.Clone(module)
	for _, a := range assets {
		out = appendSection(out, abi.SectionAssetPrefix+a.Name, a.Data)
	}
	return appendSection(out, abi.SectionManifest, packed.AppendJSON(nil)), nil
}

// moduleSubject names the module itself among the digests.
const moduleSubject = "module"

// digests pins every part of a package.
func digests(module []byte, assets []*v1.Asset) []*v1.Digest {
	sum := sha256.Sum256(module)
	out := []*v1.Digest{{Subject: moduleSubject, SHA256: sum[:]}}
	for _, a := range assets {
		sum := sha256.Sum256(a.Data)
		out = append(out, &v1.Digest{Subject: "asset/" + a.Name, SHA256: sum[:]})
	}
	return out
}

// checkDigests compares what the manifest pins with what is there: every part exactly once, and nothing else.
func checkDigests(pinned []*v1.Digest, module []byte, assets []*v1.Asset) error {
	want := map[string][]byte{}
	for _, d := range pinned {
		if _, ok := want[d.Subject]; ok {
			return fmt.Errorf("the manifest has two digests for %s", d.Subject)
		}
		want[d.Subject] = d.SHA256
	}
	for _, d := range digests(module, assets) {
		sum, ok := want[d.Subject]
		if !ok {
			return fmt.Errorf("the manifest has no digest for %s; pack the plugin again", d.Subject)
		}
		if !bytes.Equal(sum, d.SHA256) {
			return fmt.Errorf("%s was changed after packing: its SHA-256 is %x, the manifest says %x", d.Subject, d.SHA256, sum)
		}
		delete(want, d.Subject)
	}
	for subject := range want {
		return fmt.Errorf("the manifest has a digest for %s, which is not in the file", subject)
	}
	return nil
}

func checkAssets(assets []*v1.Asset) error {
	if len(assets) > abi.MaxAssets {
		return fmt.Errorf("the package has %d assets, at most %d are allowed", len(assets), abi.MaxAssets)
	}
	seen := map[string]bool{}
	for _, a := range assets {
		if !validAssetName(a.Name) {
			return fmt.Errorf("%q is not an asset's name: 1 to %d letters, digits, . _ -", a.Name, abi.MaxName)
		}
		if seen[a.Name] {
			return fmt.Errorf("asset %s is there twice", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

func validAssetName(s string) bool {
	ok := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c)
	}
	return s != "" && len(s) <= abi.MaxName && strings.IndexFunc(s, func(c rune) bool { return !ok(c) }) < 0
}
