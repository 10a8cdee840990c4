package wasm

import "testing"

// TestWorkingSetForgetsInTime checks the bet that decides between comparing cold pages and faulting hot ones in again.
func TestWorkingSetForgetsInTime(t *testing.T) {
	var w workingSet
	for i := range 1000 {
		if w.note(40, 0) {
			t.Fatalf("forgot a working set that is all hot, after %d calls", i)
		}
	}
	if w.note(2000, 0) {
		t.Fatal("forgot in the very call that was large")
	}
	forgot := 0
	for range 100 {
		if w.note(40, 1960) {
			forgot++
		}
	}
	if forgot == 0 {
		t.Error("a large call's pages are compared for ever")
	}
	w = workingSet{}
	for i := range 100 {
		if w.note(40, 5) && i < 50 {
			t.Errorf("forgot after %d calls for a few cold pages", i)
		}
	}
}
