// Package watch tells when the files of some directories have changed. It is the only door to fsnotify.
//
// The rule of this package: an event says where to look, the content decides. Events are late, missing, doubled or about the
// wrong inode (an editor's rename-over-write, a Kubernetes ConfigMap's symlink swap, a directory removed and made again), so an
// event only starts a debounce; then every file is hashed, and a change is announced when the hashes differ. A periodic rescan
// finds what no event told, and where the system has no watches to give, polling takes their place.
//
// Directories are watched flat: files in subdirectories are not seen. Names that start with "." are never reported, but a symbolic
// link among the reported files is followed.
package watch

import (
	"log/slog"
	"path/filepath"
	"sync"
	"time"
)

// Options tune a Watcher. nil, and every zero field, mean the defaults.
type Options struct {
	// Debounce is how long a directory must be quiet before it is hashed. Default 100 ms.
	Debounce time.Duration
	// MaxDelay bounds the debounce while changes keep coming. Default 1 s.
	MaxDelay time.Duration
	// Rescan is how often everything is hashed without any event. Default 30 s.
	Rescan time.Duration
	// Poll is how often sizes and times are compared where events do not work. Default 1 s.
	Poll time.Duration
	// PollOnly does without the system's events, for network file systems that have none.
	PollOnly bool
	// MaxFileBytes is the size above which a file is told apart by size and time and reported with ErrTooLarge. Default 256 MiB.
	MaxFileBytes int64
	// Log receives what a person should know. nil: nothing is logged.
	Log *slog.Logger
}

func (o *Options) withDefaults() Options {
	var opt Options
	if o != nil {
		opt = *o
	}
	setDefault(&opt.Debounce, 100*time.Millisecond)
	setDefault(&opt.MaxDelay, time.Second)
	setDefault(&opt.Rescan, 30*time.Second)
	setDefault(&opt.Poll, time.Second)
	if opt.MaxFileBytes <= 0 {
		opt.MaxFileBytes = 256 << 20
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return opt
}

func setDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// A Watcher follows a set of directories until Close. Safe for concurrent use.
type Watcher struct {
	opt     Options
	changes chan struct{}
	wake    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	once    sync.Once
	events  *events

	mu   sync.Mutex
	dirs map[string]*dir
}

// New starts a Watcher that follows nothing yet. It cannot fail: without system events it polls, and says so in the log.
func New(opt *Options) *Watcher {
	w := &Watcher{
		opt:     opt.withDefaults(),
		changes: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
		dirs:    map[string]*dir{},
	}
	w.events = newEvents(w.opt.PollOnly, w.opt.Log)
	go w.loop()
	return w
}

// Add follows the files of the directory path whose base name accept allows; a nil accept allows all. The directory need not exist yet. When Add
// returns, Snapshot holds the files that are there now, and every later change of them is announced. A directory that is added
// again is followed for everything that any accept allows.
func (w *Watcher) Add(path string, accept func(name string) bool) {
	if accept == nil {
		accept = func(string) bool { return true }
	}
	d := &dir{path: absolute(path), accept: accept}
	w.mu.Lock()
	before := w.dirs[d.path]
	if before != nil {
		d.accept = func(name string) bool { return before.accept(name) || accept(name) }
		d.files, d.links, d.err = before.files, before.links, before.err
	}
	w.dirs[d.path] = d
	w.events.arm(w.dirs)
	if differs, _ := d.scan(w.opt.MaxFileBytes); differs && before != nil {
		w.announce() // what is new may have changed before, not only have come into sight
	}
	w.mu.Unlock()
	w.Check()
}

// AddFile follows a single file by following its directory.
func (w *Watcher) AddFile(path string) {
	path = absolute(path)
	base := filepath.Base(path)
	w.Add(filepath.Dir(path), func(name string) bool { return name == base })
}

// Remove stops following a directory. Its files leave the snapshot, which is announced as a change.
func (w *Watcher) Remove(path string) {
	w.mu.Lock()
	if _, ok := w.dirs[absolute(path)]; ok {
		delete(w.dirs, absolute(path))
		w.announce()
	}
	w.mu.Unlock()
	w.Check()
}

// Changes delivers after the followed files changed. Announcements are merged: one receive may stand for many changes, so read
// Snapshot (or the files) after it. The channel is never closed.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Snapshot is the last settled state.
func (w *Watcher) Snapshot() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return snapshot(w.dirs)
}

// Check asks for a look at all files soon, as if an event had come.
func (w *Watcher) Check() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Polling reports whether system events are off or incomplete, so that changes are found by polling.
func (w *Watcher) Polling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events.polling()
}

// Close stops the watcher and waits for its goroutine. Idempotent.
func (w *Watcher) Close() error {
	w.once.Do(func() { close(w.stop) })
	<-w.stopped
	return nil
}

func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return abs
}
