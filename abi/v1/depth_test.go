package v1

import (
	"strings"
	"testing"
)

// TestDepth: nothing in the contract nests deeply enough to meet the bound, so it is tested from inside.
func TestDepth(t *testing.T) {
	if err := new(View).decode(nil, MaxDepth); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	if err := new(View).decode(nil, MaxDepth+1); err == nil {
		t.Error("protobuf: no bound")
	}
	if err := strictMessageCheck(0, nil, MaxDepth+1); err == nil || err.Reason != reasonDepth {
		t.Errorf("strict: %v", err)
	}
	d := jsonDecoder{b: []byte(strings.Repeat("{", MaxDepth+2))}
	for range MaxDepth {
		if !d.open() {
			t.Fatal(d.err)
		}
	}
	if d.open() || d.err == nil {
		t.Error("JSON: no bound")
	}
}

// TestDeepestMessage keeps the bound honest: the contract itself must fit well below it.
func TestDeepestMessage(t *testing.T) {
	var depth func(ref uint16, above int) int
	depth = func(ref uint16, above int) int {
		if above > MaxDepth {
			t.Fatal("messages refer to each other in a circle")
		}
		deepest := above
		for _, f := range strictMessages[ref].fields {
			if f.shape == shapeMessage {
				deepest = max(deepest, depth(f.ref, above+1))
			}
		}
		return deepest
	}
	for i := range strictMessages {
		if n := depth(uint16(i), 1); n > MaxDepth/2 {
			t.Errorf("message %d nests %d deep", i, n)
		}
	}
}
