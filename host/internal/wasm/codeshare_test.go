package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// TestEnginesShareACache: engines of several processes compile the same modules into one folder at the same time. None sees another's half
// entry, none removes what another is writing, and one sealed entry remains.
func TestEnginesShareACache(t *testing.T) {
	dir := t.TempDir()
	packed, err := guest.Open("model", hostile.Model())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			e, err := New(&Options{CacheDir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			defer e.Close()
			for range 5 {
				m, err := e.Load(t.Context(), "model", packed.Module, guest.LoadOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				m.Close()
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), partSuffix) {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if len(entries) != 1 {
		t.Errorf("%d entries, want 1", len(entries))
	}
	if _, err := os.Stat(filepath.Join(dir, entries[0].Name(), sealName)); err != nil {
		t.Error(err)
	}
}
