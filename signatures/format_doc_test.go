package signatures

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write FORMAT.md anew")

// TestReferenceIsCurrent keeps FORMAT.md in step with the tables it is made from.
func TestReferenceIsCurrent(t *testing.T) {
	if *update {
		if err := os.WriteFile("FORMAT.md", []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("FORMAT.md")
	if err != nil || string(have) != Reference() {
		t.Errorf("FORMAT.md is not what Reference makes (%v); run go test ./signatures -run Reference -update", err)
	}
}
