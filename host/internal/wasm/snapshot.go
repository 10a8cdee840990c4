package wasm

import (
	"errors"
	"fmt"
)

// A snapshot is the state that every call starts from: memory and mutable globals after setup.
type snapshot struct {
	img     *image
	globals []uint64
	mono    int64
}

// capture freezes the state of in and makes in itself track changes from here on.
func (in *instance) capture() (*snapshot, error) {
	img, err := in.mod.eng.restorer.image(in.mem.bytes())
	if err != nil {
		return nil, err
	}
	if err := in.mem.adopt(img); err != nil {
		img.free()
		return nil, err
	}
	s := &snapshot{img: img, mono: in.state.mono}
	for _, g := range in.globals {
		s.globals = append(s.globals, g.Get())
	}
	return s, nil
}

// become gives a raw instance the state of the snapshot.
func (in *instance) become(s *snapshot) error {
	if more := len(s.img.data) - len(in.mem.bytes()); more > 0 {
		if _, ok := in.wasm.Memory().Grow(uint32(more / pageBytes)); !ok {
			return fmt.Errorf("memory could not grow to the snapshot's %d bytes", len(s.img.data))
		}
	}
	if err := in.mem.adopt(s.img); err != nil {
		return err
	}
	in.restoreRest(s)
	return nil
}

// reset brings an instance that became s, or that s was captured from, back to it.
func (in *instance) reset(s *snapshot) error {
	if len(in.mem.bytes()) != len(s.img.data) {
		if err := in.shrink(len(s.img.data)); err != nil {
			return err
		}
	}
	if err := in.mem.restore(s.img); err != nil {
		return err
	}
	in.restoreRest(s)
	if in.call.deep() || in.alloc.deep() {
		in.renew()
	}
	return nil
}

// restoreRest restores what is not memory.
func (in *instance) restoreRest(s *snapshot) {
	in.state.mono = s.mono
	for i, g := range in.globals {
		g.Set(s.globals[i])
	}
}

// shrink takes back memory that a call added. WebAssembly has no way to say so, but wazero asks the allocator for the whole memory
// whenever it grows and takes what it is given: so the memory is made one page too small behind wazero's back, and then grown.
func (in *instance) shrink(size int) error {
	if in.buffer == nil || size < pageBytes || size > len(*in.buffer) {
		return errors.New("memory grew, and this wazero cannot take it back")
	}
	in.mem.pin = size
	defer func() { in.mem.pin = 0 }()
	*in.buffer = (*in.buffer)[:size-pageBytes]
	if _, ok := in.wasm.Memory().Grow(1); !ok || len(*in.buffer) != size {
		return errors.New("memory grew and could not be made smaller again")
	}
	in.mem.budget.give(in.mem.held - int64(size))
	in.mem.held = int64(size)
	return nil
}
