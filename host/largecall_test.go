package host_test

import (
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
)

// TestLargeToolCallsAreJudgedWhole: a detector that wakes for tool calls sees all of a long one, whatever the signatures saw of it.
func TestLargeToolCallsAreJudgedWhole(t *testing.T) {
	h, err := host.New(t.Context(), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	pad := strings.Repeat("lorem ipsum dolor sit amet ", 300)
	for text, want := range map[string]host.Verdict{
		`{"name":"bash","arguments":{"note":"` + pad + `","command":"usermod -aG docker bob"}}`:                                              host.Threat, // no signature knows it
		`{"name":"write_file","arguments":{"path":"README.md","content":"` + pad + ` open http://localhost:3000 in a browser ` + pad + `"}}`: host.Clear,  // written, not fetched
	} {
		d, err := h.Inspect(t.Context(), host.Payload{Data: []byte(text), Kind: v1.PayloadKindToolCall})
		if err != nil {
			t.Fatal(err)
		}
		if d.Verdict != want {
			t.Errorf("%v for %.40s..., want %v: %+v", d.Verdict, text, want, d.Findings)
		}
	}
}
