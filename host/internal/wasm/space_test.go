package wasm

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestSpaceRestoresWhateverWasWritten(t *testing.T) {
	for _, method := range methods(t) {
		t.Run(method, func(t *testing.T) {
			r, err := newRestorer(method)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			rnd := rand.New(rand.NewPCG(1, 2))
			want := make([]byte, 5*pageBytes)
			for i := range want[:3*pageBytes] {
				want[i] = byte(rnd.Uint32())
			}
			img, err := r.image(want)
			if err != nil {
				t.Fatal(err)
			}
			defer img.free()
			a, b := adopted(t, r, img), adopted(t, r, img)
			defer a.free()
			defer b.free()
			for round := range 200 {
				scribble(a, rnd, 1+round%97)
				if err := a.restore(img); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(a.bytes(), want) || !bytes.Equal(b.bytes(), want) || !bytes.Equal(img.data, want) {
					t.Fatalf("round %d left a trace", round)
				}
			}
		})
	}
}

func adopted(t *testing.T, r restorer, img *image) space {
	t.Helper()
	s, err := r.space(16 * pageBytes)
	if err != nil {
		t.Fatal(err)
	}
	if s.resize(len(img.data)) == nil {
		t.Fatal("no memory")
	}
	scribble(s, rand.New(rand.NewPCG(3, 4)), 10) // what was there before must not matter
	if err := s.adopt(img); err != nil {
		t.Fatal(err)
	}
	return s
}

// scribble writes runs of bytes all over a space, small and large ones.
func scribble(s space, rnd *rand.Rand, runs int) {
	mem := s.bytes()
	for range runs {
		at, n := rnd.IntN(len(mem)), 1
		if rnd.IntN(4) == 0 {
			n = rnd.IntN(3 * 4096)
		}
		for i := at; i < min(at+n, len(mem)); i++ {
			mem[i] = byte(rnd.Uint32())
		}
	}
}

func TestSpaceGrownMemoryIsZeroAgain(t *testing.T) {
	for _, method := range methods(t) {
		t.Run(method, func(t *testing.T) {
			r, err := newRestorer(method)
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			img, err := r.image(bytes.Repeat([]byte{7}, 2*pageBytes))
			if err != nil {
				t.Fatal(err)
			}
			defer img.free()
			s := adopted(t, r, img)
			defer s.free()
			for range 3 {
				grown := s.resize(9 * pageBytes)
				if n := bytes.Count(grown[2*pageBytes:], []byte{0}); n != 7*pageBytes {
					t.Fatalf("%d bytes of the new memory are not zero", 7*pageBytes-n)
				}
				for i := range grown {
					grown[i] = 0xff
				}
				if err := s.restore(img); err == nil {
					t.Fatal("restore accepted a memory of another size")
				}
				s.resize(2 * pageBytes)
				if err := s.restore(img); err != nil {
					t.Fatal(err)
				}
			}
			if s.resize(17*pageBytes) != nil {
				t.Error("the space grew beyond its maximum")
			}
		})
	}
}

func TestSpaceOfNothing(t *testing.T) {
	for _, method := range methods(t) {
		r, err := newRestorer(method)
		if err != nil {
			t.Fatal(err)
		}
		img, err := r.image(nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.space(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.adopt(img); err != nil {
			t.Error(method, err)
		}
		if err := s.restore(img); err != nil {
			t.Error(method, err)
		}
		s.free()
		img.free()
		r.close()
	}
}

func TestUnknownResetMethodIsRefused(t *testing.T) {
	_, err := New(&Options{Reset: "prayer"})
	wantError(t, err, 1 /* invalid */, "prayer", methodCopy)
}
