package view_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/view"
)

// unordered are the decodings whose text does not follow the order of the source.
var unordered = []string{"reversed", "joined"}

// check fails the test if a Set breaks one of the promises of the package.
func check(t *testing.T, s *view.Set, data []byte, lim view.Limits) {
	t.Helper()
	held := 0
	for i := range s.Views {
		v := &s.Views[i]
		if !utf8.Valid(v.Text) {
			t.Fatalf("%s: text is not valid UTF-8: %q", v.Name, v.Text)
		}
		if last := v.Name[strings.LastIndexByte(v.Name, '>')+1:]; !slices.Contains(view.Names(), last) {
			t.Fatalf("view.Names does not have %s", last)
		}
		if v.Parent >= i || i > 0 && len(v.Text) == 0 || v.Depth > lim.Depth {
			t.Fatalf("view %d %s: parent %d, depth %d, %d bytes", i, v.Name, v.Parent, v.Depth, len(v.Text))
		}
		if v.Parent > 0 && (!strings.HasPrefix(v.Name, s.Views[v.Parent].Name+">") || s.Views[v.Parent].Hidden && !v.Hidden) {
			t.Fatalf("view %s does not follow from its parent %s", v.Name, s.Views[v.Parent].Name)
		}
		if i > 0 {
			held += len(v.Text)
		}
		checkOrigins(t, v, data)
	}
	if len(s.Views) > lim.Views || held > lim.Bytes {
		t.Fatalf("%d views hold %d bytes; the limits are %+v", len(s.Views), held, lim)
	}
	if most := 200*len(data) + 100*lim.Bytes; s.Work > most {
		t.Fatalf("work of %d on %d bytes", s.Work, len(data))
	}
}

// checkOrigins maps every character back: in range, in order, and to itself where the text was only copied.
func checkOrigins(t *testing.T, v *view.View, data []byte) {
	t.Helper()
	ordered := true
	for _, n := range unordered {
		ordered = ordered && !v.Has(n)
	}
	last := 0
	for k := 0; k < len(v.Text); {
		_, n := utf8.DecodeRune(v.Text[k:])
		lo, hi := v.Origin(k, k+n)
		if lo < 0 || lo > hi || hi > len(data) {
			t.Fatalf("%s: [%d,%d) comes from [%d,%d) of %d bytes", v.Name, k, k+n, lo, hi, len(data))
		}
		if ordered && lo < last {
			t.Fatalf("%s: [%d,%d) comes from [%d,%d), before %d", v.Name, k, k+n, lo, hi, last)
		}
		if v.Parent == -1 && v.Name == "text" && !v.Decoded(k, k+n) && !bytes.Equal(data[lo:hi], v.Text[k:k+n]) {
			t.Fatalf("%s: %q comes from %q", v.Name, v.Text[k:k+n], data[lo:hi])
		}
		last = lo
		k += n
	}
	if lo, hi := v.Origin(-5, len(v.Text)+5); lo < 0 || hi > len(data) || lo > hi {
		t.Fatalf("%s: the whole comes from [%d,%d)", v.Name, lo, hi)
	}
}

func FuzzOf(f *testing.F) {
	for _, row := range decodings {
		f.Add([]byte(row.in), uint8(row.kind))
	}
	for _, data := range hostile(256) {
		f.Add(data, uint8(v1.PayloadKindCode))
	}
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		if len(data) > 1<<14 {
			return
		}
		before := bytes.Clone(data)
		for _, lim := range []view.Limits{{Depth: 6, Views: 64, Bytes: 4*len(data) + 16<<10}, {Depth: 1, Views: 3, Bytes: 64}} {
			s := view.Of(data, v1.PayloadKind(kind), lim)
			check(t, s, data, lim)
			again := view.Of(data, v1.PayloadKind(kind), lim)
			if names(s) != names(again) || s.Work != again.Work || s.Truncated != again.Truncated {
				t.Fatalf("the second time it is %s (%d), the first time %s (%d)", names(again), again.Work, names(s), s.Work)
			}
			again.Release()
			s.Release()
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the payload was changed")
		}
	})
}
