package wasm

import (
	"bytes"
	"fmt"
	"slices"
)

// pageBytes is the size of a WebAssembly page, the unit in which linear memory grows.
const pageBytes = 64 << 10

// A space is the linear memory of one instance. It never moves, has one owner, and is not safe for concurrent use.
type space interface {
	// bytes is the accessible memory.
	bytes() []byte
	// resize makes n bytes accessible, a multiple of pageBytes, and answers them. Bytes that were not accessible before are zero.
	// nil means that the operating system refused.
	resize(n int) []byte
	// adopt makes the memory equal to img and starts tracking what is written from here on.
	adopt(img *image) error
	// restore makes a memory that has adopted img equal to it again. Its cost grows with what was written, not with the size.
	restore(img *image) error
	// free gives everything back. Using the space afterwards is a fault.
	free()
}

// An image is the frozen content of a linear memory, shared by all instances of a module.
type image struct {
	// data is read-only: on Linux a write to it ends the process.
	data []byte
	// fd is the memfd behind data, -1 if there is none; it matters up to filled, behind which everything is zero.
	fd, filled int
	drop       func()
}

// free gives the image back. Spaces that adopted it must be gone.
func (m *image) free() {
	if m != nil && m.drop != nil {
		m.drop()
		m.drop = nil
	}
}

// A restorer makes spaces and images that fit together.
type restorer interface {
	// method is the name shown in ModuleStats.
	method() string
	// space reserves memory that can grow to max bytes.
	space(max int) (space, error)
	// image freezes data, which is copied.
	image(data []byte) (*image, error)
	close()
}

// Reset methods, best first. Only "copy" exists on every platform.
const (
	methodTrack   = "pagemap"      // PAGEMAP_SCAN over asynchronous write protection (Linux 6.7, userfaultfd allowed)
	methodPagemap = "pagemap-file" // PAGEMAP_SCAN for private copies of file pages (Linux 6.7)
	methodRemap   = "remap"        // MADV_DONTNEED over a private mapping of a memfd (Linux)
	methodCopy    = "copy"
)

// newRestorer picks the method by name, or the best one that works here when the name is empty. Every method proves itself on a small
// memory before it is used, because kernels, sandboxes and emulators differ in what they promise and what they do.
func newRestorer(name string) (restorer, error) {
	var last error
	for _, m := range []string{methodTrack, methodPagemap, methodRemap, methodCopy} {
		if name != "" && name != m {
			continue
		}
		r, err := openRestorer(m)
		if err == nil {
			if err = prove(r); err == nil {
				return r, nil
			}
			r.close()
		}
		last = fmt.Errorf("reset method %q: %w", m, err)
	}
	if last == nil {
		last = fmt.Errorf("reset method %q is unknown; use %q, %q, %q or %q", name, methodTrack, methodPagemap, methodRemap, methodCopy)
	}
	return nil, last
}

// prove writes to a small memory in every way a guest can and expects restore to undo it.
func prove(r restorer) error {
	want := bytes.Repeat([]byte("amygdala"), pageBytes/8)
	want = append(want, make([]byte, pageBytes)...)
	img, err := r.image(want)
	if err != nil {
		return err
	}
	defer img.free()
	s, err := r.space(4 * pageBytes)
	if err != nil {
		return err
	}
	defer s.free()
	if s.resize(len(want)) == nil {
		return fmt.Errorf("memory of %d bytes was refused", len(want))
	}
	if err := s.adopt(img); err != nil {
		return err
	}
	for round := range 4 {
		if !bytes.Equal(s.bytes(), want) {
			return fmt.Errorf("memory differs from the snapshot after %d resets", round)
		}
		for i := round * 4096; i < len(want); i += 3 * 4096 {
			s.bytes()[i]++
		}
		if err := s.restore(img); err != nil {
			return err
		}
	}
	return nil
}

// copier is the portable restorer: ordinary Go memory, and one copy of all of it.
type copier struct{}

func (copier) method() string { return methodCopy }
func (copier) close()         {}

func (copier) space(max int) (space, error) { return &heapSpace{max: max}, nil }

func (copier) image(data []byte) (*image, error) {
	return &image{data: slices.Clone(data), fd: -1}, nil
}

type heapSpace struct {
	mem []byte
	max int
}

func (h *heapSpace) bytes() []byte { return h.mem }

func (h *heapSpace) resize(n int) []byte {
	switch {
	case n > h.max:
		return nil
	case n <= cap(h.mem):
		old := len(h.mem)
		h.mem = h.mem[:n]
		if n > old {
			clear(h.mem[old:])
		}
	default:
		grown := make([]byte, n, min(h.max, max(n, 2*cap(h.mem))))
		copy(grown, h.mem)
		h.mem = grown
	}
	return h.mem
}

func (h *heapSpace) adopt(img *image) error { return h.restore(img) }

func (h *heapSpace) restore(img *image) error {
	if len(h.mem) != len(img.data) {
		return fmt.Errorf("memory has %d bytes, the snapshot %d", len(h.mem), len(img.data))
	}
	copy(h.mem, img.data)
	return nil
}

func (h *heapSpace) free() { h.mem = nil }
