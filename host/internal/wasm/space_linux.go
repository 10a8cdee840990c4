package wasm

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func openRestorer(method string) (restorer, error) {
	m := &mapper{name: method, pagemap: -1, uffd: -1}
	switch method {
	case methodCopy:
		return copier{}, nil
	case methodRemap:
		return m, nil
	}
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /proc/self/pagemap: %w", err)
	}
	m.pagemap = fd
	if method == methodTrack {
		if m.uffd, err = openUffd(); err != nil {
			m.close()
			return nil, err
		}
	}
	return m, nil
}

// mapper makes spaces that are private mappings of a memfd: a page costs nothing until it is written, and all instances of a module
// share the pristine ones.
type mapper struct {
	name string
	// pagemap is /proc/self/pagemap, uffd a userfaultfd; -1 when the method does without.
	pagemap, uffd int
}

func (m *mapper) method() string { return m.name }

func (m *mapper) close() {
	for _, fd := range []int{m.pagemap, m.uffd} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	m.pagemap, m.uffd = -1, -1
}

func (m *mapper) image(data []byte) (*image, error) {
	if len(data) == 0 {
		return &image{fd: -1}, nil
	}
	fd, err := unix.MemfdCreate("guest-snapshot", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	if err := fillImage(fd, data); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	ro, err := unix.Mmap(fd, 0, len(data), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("mmap", err)
	}
	return &image{data: ro, fd: fd, filled: filled(data), drop: func() {
		_ = unix.Munmap(ro)
		_ = unix.Close(fd)
	}}, nil
}

// filled is where the zeros at the end of data begin, rounded up.
func filled(data []byte) int {
	n := len(data)
	for n >= pageBytes && bytes.Count(data[n-pageBytes:n], []byte{0}) == pageBytes {
		n -= pageBytes
	}
	return n
}

// fillImage leaves holes where data is zero, which most of a fresh heap is.
func fillImage(fd int, data []byte) error {
	if err := unix.Ftruncate(fd, int64(len(data))); err != nil {
		return os.NewSyscallError("ftruncate", err)
	}
	for off := 0; off < len(data); off += pageBytes {
		chunk := data[off:min(off+pageBytes, len(data))]
		if bytes.Count(chunk, []byte{0}) == len(chunk) {
			continue
		}
		for done := 0; done < len(chunk); {
			n, err := unix.Pwrite(fd, chunk[done:], int64(off+done))
			if err != nil {
				return os.NewSyscallError("pwrite", err)
			}
			done += n
		}
	}
	return nil
}

func (m *mapper) space(max int) (space, error) {
	// One inaccessible page more than needed stands behind the memory: should a bounds check ever be wrong, the process ends
	// instead of reading its neighbour.
	base, err := unix.Mmap(-1, 0, max+pageBytes, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &mappedSpace{m: m, base: base, max: max}, nil
}

// mappedSpace reserves addresses for the largest memory at once, so that growing never moves it.
type mappedSpace struct {
	m         *mapper
	base      []byte
	size, max int
	// dirty is how far the bytes behind the image may be non-zero.
	dirty   int
	regions []pageRegion
	written workingSet
}

func (s *mappedSpace) bytes() []byte { return s.base[:s.size:s.size] }

func (s *mappedSpace) resize(n int) []byte {
	if n > s.max {
		return nil
	}
	if n > s.size {
		if unix.Mprotect(s.base[s.size:n], unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil
		}
		s.dirty = max(s.dirty, n)
	}
	s.size = n
	return s.bytes()
}

func (s *mappedSpace) adopt(img *image) error {
	if len(img.data) != s.size {
		return fmt.Errorf("memory has %d bytes, the snapshot %d", s.size, len(img.data))
	}
	if s.size == 0 {
		return nil
	}
	if err := s.mapImage(img); err != nil {
		return err
	}
	if s.m.uffd >= 0 {
		if err := uffdRegister(s.m.uffd, s.bytes()); err != nil {
			return err
		}
		if err := uffdProtect(s.m.uffd, s.bytes()); err != nil {
			return err
		}
	}
	if s.m.pagemap >= 0 && s.regions == nil {
		s.regions = make([]pageRegion, 128)
	}
	return s.scrub()
}

// mapImage puts the image's file under the part that is not zero. The rest, usually a heap's room to grow, is anonymous memory: a
// write there costs one page and one fault less than through a hole in the file.
func (s *mappedSpace) mapImage(img *image) error {
	if img.filled < s.size {
		if err := unix.Madvise(s.base[img.filled:s.size], unix.MADV_DONTNEED); err != nil {
			return os.NewSyscallError("madvise", err)
		}
	}
	if img.filled == 0 {
		return nil
	}
	_, err := unix.MmapPtr(img.fd, 0, unsafe.Pointer(&s.base[0]), uintptr(img.filled),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return os.NewSyscallError("mmap", err)
}

// scrub drops what a call left behind the image, so that memory grown later reads as zero.
func (s *mappedSpace) scrub() error {
	if s.dirty <= s.size {
		return nil
	}
	if err := unix.Madvise(s.base[s.size:s.dirty], unix.MADV_DONTNEED); err != nil {
		return os.NewSyscallError("madvise", err)
	}
	s.dirty = s.size
	return nil
}

func (s *mappedSpace) restore(img *image) error {
	if len(img.data) != s.size {
		return fmt.Errorf("memory has %d bytes, the snapshot %d", s.size, len(img.data))
	}
	if s.size == 0 {
		return nil
	}
	if err := s.scrub(); err != nil {
		return err
	}
	if s.m.pagemap < 0 {
		return s.forget()
	}
	hot, cold, err := s.copyBack(img)
	if err != nil {
		return err
	}
	if s.written.note(hot, cold) {
		return s.forget()
	}
	return nil
}

// copyBack walks the pages that have been written since they were last forgotten and repairs those that differ. Pages stay
// writable afterwards: a call usually writes the pages that the previous one wrote, and a copy (0.1 us) is cheaper than a fault.
func (s *mappedSpace) copyBack(img *image) (hot, cold int, err error) {
	start := uintptr(unsafe.Pointer(&s.base[0]))
	for at := start; at < start+uintptr(s.size); {
		n, next, err := s.m.scan(at, start+uintptr(s.size), s.regions)
		if err != nil {
			return hot, cold, err
		}
		for _, r := range s.regions[:n] {
			h, c := s.repair(img, int(uintptr(r.start)-start), int(uintptr(r.end)-start))
			hot, cold = hot+h, cold+c
		}
		at = next
	}
	return hot, cold, nil
}

// zeros is what the image holds behind its filled part, without touching the file there.
var zeros [pageBytes]byte

// repair makes the pages of [from, to) equal to the image's, and counts those that were and those that were not.
func (s *mappedSpace) repair(img *image, from, to int) (hot, cold int) {
	page := os.Getpagesize()
	for ; from < to; from += page {
		want := zeros[:page]
		if from < img.filled {
			want = img.data[from : from+page]
		}
		if mem := s.base[from : from+page]; bytes.Equal(mem, want) {
			cold++
		} else {
			copy(mem, want)
			hot++
		}
	}
	return hot, cold
}

// forget gives every page of the image back its pristine, untracked state.
func (s *mappedSpace) forget() error {
	if s.m.uffd >= 0 {
		return uffdProtect(s.m.uffd, s.bytes())
	}
	if err := unix.Madvise(s.bytes(), unix.MADV_DONTNEED); err != nil {
		return os.NewSyscallError("madvise", err)
	}
	return nil
}

func (s *mappedSpace) free() {
	if s.base != nil {
		_ = unix.Munmap(s.base)
		s.base, s.size = nil, 0
	}
}

// workingSet decides when tracking should start afresh. Comparing a page that nobody writes any more costs about a tenth of the
// fault that the next write to a forgotten page costs; so once as much has been wasted on cold pages as forgetting the hot ones
// would cost, forgetting is the better half of the bet.
type workingSet struct {
	wasted, hot int
}

func (w *workingSet) note(hot, cold int) (forget bool) {
	w.hot = max(hot, w.hot-w.hot/8)
	w.wasted += cold
	if w.wasted < 10*w.hot+64 {
		return false
	}
	w.wasted = 0
	return true
}
