package host

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

// readPolicy reads the operator's policy for a new generation.
func (h *Host) readPolicy() (*policies.Policy, error) {
	if h.opt.PolicyFile == "" {
		return policies.Default(), nil
	}
	data, err := os.ReadFile(h.opt.PolicyFile)
	if err != nil {
		return nil, abi.E("read policy", v1.ErrorKindIO, h.opt.PolicyFile, err)
	}
	return policies.Parse(h.opt.PolicyFile, data)
}

// packCache remembers the matcher of the last packs: compiling takes longer than comparing digests.
type packCache struct {
	mu      sync.Mutex
	key     [sha256.Size]byte
	matcher *signatures.Matcher
}

// builtinPacks are parsed once in the life of a program.
var builtinPacks = sync.OnceValues(func() ([]*signatures.Pack, error) { return signatures.Load(signatures.Default()) })

// readSignatures compiles the built-in packs and the operator's. The operator's must pass lint: a signature without examples, or one that a
// hostile text could make expensive, is refused with its line.
func (h *Host) readSignatures() (*signatures.Matcher, error) {
	packs, err := builtinPacks()
	if err != nil {
		return nil, err
	}
	var own []*signatures.Pack
	for _, dir := range h.opt.SignatureDirs {
		switch info, err := os.Stat(dir); {
		case err != nil:
			return nil, abi.E("read signatures", v1.ErrorKindIO, dir, err)
		case !info.IsDir():
			return nil, abi.E("read signatures", v1.ErrorKindInvalid, dir, errors.New("it is not a folder; name the folder that holds the packs"))
		}
		more, err := signatures.Load(os.DirFS(dir))
		if err != nil {
			return nil, err
		}
		own = append(own, more...)
	}
	return h.packs.compile(packs, own)
}

func (c *packCache) compile(builtin, own []*signatures.Pack) (*signatures.Matcher, error) {
	all := slices.Concat(builtin, own)
	sum := sha256.New()
	for _, p := range all {
		fmt.Fprintf(sum, "%s\n", p.File)
		sum.Write(p.Digest[:])
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.matcher != nil && c.key == key {
		return c.matcher, nil
	}
	var errs []error
	for _, p := range signatures.Lint(own) {
		if p.Level == signatures.Error {
			errs = append(errs, errors.New(p.String()))
		}
	}
	if len(errs) > 0 {
		return nil, abi.E("lint signatures", v1.ErrorKindInvalid, "", errors.Join(errs...))
	}
	m, err := signatures.Compile(all)
	if err != nil {
		return nil, err
	}
	c.key, c.matcher = key, m
	return m, nil
}
