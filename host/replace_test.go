package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// TestHostileOverride: a hostile file in the place of a required detector never makes a payload pass by failing. Either it is refused and
// the shipped one serves on, whose accusation is seen, or its failing calls hold. Only one that answers as the contract says is believed.
func TestHostileOverride(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every hostile guest")
	}
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(bare+"  hostile: { required: true }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, g := range hostile.All() {
		t.Run(g.Name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "p.wasm"), g.Wasm, 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := host.New(t.Context(), host.Options{PolicyFile: policy, PluginDirs: []string{dir}, Cache: cache,
				Builtins: []guest.Builtin{{Name: "hostile", Wasm: hostile.Accuser()}}})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			d, err := h.Inspect(t.Context(), host.Payload{Data: []byte("hello"), Kind: v1.PayloadKindWeb})
			if err != nil {
				t.Fatal(err)
			}
			if answers := slices.Contains([]string{"grow-to-the-cap", "log-flood", "non-determinism"}, g.Name); (d.Verdict == host.Clear) != answers {
				t.Errorf("%s: %v", d.Verdict, d.Held)
			}
		})
	}
}

// TestUnknownKindHolds: bands, signatures and detectors go by the kind, so nothing can be said of a payload of none.
func TestUnknownKindHolds(t *testing.T) {
	h := openBare(t, t.TempDir())
	defer h.Close()
	for _, kind := range []v1.PayloadKind{99, -1} {
		d, err := h.Inspect(t.Context(), host.Payload{Data: []byte("hello"), Kind: kind})
		if err != nil || d.Verdict != host.Hold {
			t.Errorf("kind %d: %v %v", kind, d, err)
		}
	}
}
