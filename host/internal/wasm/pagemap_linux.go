package wasm

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ioctls and layouts below are those of Linux's uapi headers fs.h and userfaultfd.h; golang.org/x/sys/unix has none of them.
const (
	pagemapScan = 0xC0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsWritten = 1 << 1
	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4

	uffdAPI          = 0xAA
	uffdUserModeOnly = 1

	uffdIoctlRegister  = 0xC020AA00 // _IOWR(UFFDIO, 0x00, struct uffdio_register)
	uffdIoctlProtect   = 0xC018AA06 // _IOWR(UFFDIO, 0x06, struct uffdio_writeprotect)
	uffdIoctlAPI       = 0xC018AA3F // _IOWR(UFFDIO, 0x3F, struct uffdio_api)
	uffdModeWP         = 1 << 1     // UFFDIO_REGISTER_MODE_WP
	uffdProtectModeWP  = 1 << 0     // UFFDIO_WRITEPROTECT_MODE_WP
	uffdFeatureShmem   = 1 << 12    // UFFD_FEATURE_WP_HUGETLBFS_SHMEM
	uffdFeatureUnpop   = 1 << 13    // UFFD_FEATURE_WP_UNPOPULATED
	uffdFeatureWPAsync = 1 << 15    // UFFD_FEATURE_WP_ASYNC
)

// pageRegion is struct page_region: neighbouring pages of the same categories.
type pageRegion struct{ start, end, categories uint64 }

// scanArg is struct pm_scan_arg.
type scanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages   uint64
	categoryInverted, categoryMask, categoryAnyof, returnMask uint64
}

// scan fills regions with written pages in [start, end) and says where to go on.
func (m *mapper) scan(start, end uintptr, regions []pageRegion) (n int, next uintptr, err error) {
	arg := scanArg{
		start: uint64(start), end: uint64(end),
		vec: uint64(uintptr(unsafe.Pointer(&regions[0]))), vecLen: uint64(len(regions)),
	}
	arg.size = uint64(unsafe.Sizeof(arg))
	if m.uffd >= 0 {
		// This pair of masks is the one the kernel answers from the page table alone.
		arg.categoryMask, arg.returnMask = pageIsWritten, pageIsWritten
	} else {
		// A page of a private file mapping is a file page until it is written.
		arg.categoryMask, arg.categoryInverted = pageIsFile, pageIsFile
		arg.categoryAnyof, arg.returnMask = pageIsPresent|pageIsSwapped, pageIsPresent
	}
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m.pagemap), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return 0, 0, os.NewSyscallError("ioctl PAGEMAP_SCAN", errno)
	}
	if next = uintptr(arg.walkEnd); next <= start {
		return 0, 0, fmt.Errorf("PAGEMAP_SCAN made no progress at %#x", start)
	}
	return int(r), next, nil
}

// openUffd returns a userfaultfd whose write protection the kernel lifts by itself: nobody reads from it.
func openUffd() (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("userfaultfd", errno)
	}
	api := struct{ api, features, ioctls uint64 }{api: uffdAPI, features: uffdFeatureWPAsync | uffdFeatureUnpop | uffdFeatureShmem}
	if err := uffdIoctl(int(fd), uffdIoctlAPI, unsafe.Pointer(&api)); err != nil {
		_ = unix.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
}

func uffdRegister(fd int, mem []byte) error {
	arg := struct{ start, len, mode, ioctls uint64 }{
		start: uint64(uintptr(unsafe.Pointer(&mem[0]))), len: uint64(len(mem)), mode: uffdModeWP,
	}
	return uffdIoctl(fd, uffdIoctlRegister, unsafe.Pointer(&arg))
}

func uffdProtect(fd int, mem []byte) error {
	arg := struct{ start, len, mode uint64 }{
		start: uint64(uintptr(unsafe.Pointer(&mem[0]))), len: uint64(len(mem)), mode: uffdProtectModeWP,
	}
	return uffdIoctl(fd, uffdIoctlProtect, unsafe.Pointer(&arg))
}

func uffdIoctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return os.NewSyscallError(fmt.Sprintf("ioctl userfaultfd %#x", request), errno)
	}
	return nil
}
