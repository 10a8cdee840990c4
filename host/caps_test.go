package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
)

// moonPack is a signature that nothing else knows.
const moonPack = `pack: moon
version: 1.0.0
threat: prompt_injection
signatures:
  - id: blue-moon
    version: 1
    severity: high
    confidence: 0.9
    literals: [["moon protocol"]]
    pattern: 'blue moon protocol'
    positive: ["start the blue moon protocol"]
    negative: ["a blue moon"]
`

func verdictUnder(t *testing.T, policy, text string) *host.Decision {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"policy.yaml": policy, "packs/moon.yaml": moonPack} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := host.New(t.Context(), host.Options{PolicyFile: filepath.Join(dir, "policy.yaml"), SignatureDirs: []string{filepath.Join(dir, "packs")},
		Builtins: []guest.Builtin{}, Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	d, err := h.Inspect(t.Context(), host.Payload{Data: []byte(text), Kind: v1.PayloadKindDoc})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCappedHitsHold: whoever quotes an attack often enough must not get a real one past the detectors, which see no more than the hits that
// are kept. A signature that counts for nothing holds nothing either.
func TestCappedHitsHold(t *testing.T) {
	hits := func(n int) string { return strings.Repeat("start the blue moon protocol. ", n) }
	for _, c := range []struct {
		name, more, text string
		want             host.Verdict
	}{
		{"all hits are kept", "", hits(64), host.Clear},
		{"one signature matches too often", "", hits(65), host.Hold},
		{"not if it is on trial", "signatures: { blue-moon: shadow }\n", hits(65), host.Clear},
		{"not if it is off", "signatures: { blue-moon: off }\n", hits(65), host.Clear},
		{"more hits than the policy keeps", "limits: { signatures: { hits: 3 } }\n", hits(4), host.Hold},
		{"as many hits as the policy keeps", "limits: { signatures: { hits: 3 } }\n", hits(3), host.Clear},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := verdictUnder(t, small+c.more, c.text); d.Verdict != c.want {
				t.Errorf("%s, want %s: %v", d.Verdict, c.want, d.Held)
			}
		})
	}
}

// small is bare with the shipped policy's limits.
const small = `version: 1
detectors:
  injection: { enabled: false }
  structure: { enabled: false }
  privilege: { enabled: false }
  schema: { enabled: false }
`
