package watch

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// events turns the system's file events into one question: is it worth looking? It knows where it must listen, and tells when it
// cannot. All methods but notify are called under the Watcher's lock.
type events struct {
	sys    *fsnotify.Watcher
	log    *slog.Logger
	ping   chan struct{}
	done   chan struct{}
	wanted atomic.Pointer[interest]
	// armed holds the directory each watch was put on: a watch follows an inode, not a name.
	armed  map[string]fs.FileInfo
	broken bool
	warned bool
}

// interest tells relevant events from noise, such as other people's files in /tmp when /tmp/plugins is followed.
type interest struct {
	// dirs are real paths: everything in them matters.
	dirs map[string]bool
	// names are real paths of single entries that matter: a followed directory seen from above, the target of a link.
	names map[string]bool
}

func (in *interest) matches(name string) bool {
	return in == nil || in.dirs[name] || in.dirs[filepath.Dir(name)] || in.names[name]
}

func newEvents(pollOnly bool, log *slog.Logger) *events {
	e := &events{log: log, ping: make(chan struct{}, 1), done: make(chan struct{}), armed: map[string]fs.FileInfo{}}
	if pollOnly {
		close(e.done)
		return e
	}
	sys, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("no file events, polling instead", "error", err)
		close(e.done)
		return e
	}
	e.sys = sys
	go e.pump()
	return e
}

// pump merges relevant events, and errors: an overflow means that events were lost, which is a reason to look, too.
func (e *events) pump() {
	defer close(e.done)
	for {
		select {
		case ev, ok := <-e.sys.Events:
			if !ok {
				return
			}
			if !e.wanted.Load().matches(ev.Name) {
				continue
			}
		case err, ok := <-e.sys.Errors:
			if !ok {
				return
			}
			e.log.Debug("file events", "error", err)
		}
		select {
		case e.ping <- struct{}{}:
		default:
		}
	}
}

func (e *events) notify() <-chan struct{} { return e.ping }

func (e *events) polling() bool { return e.sys == nil || e.broken }

func (e *events) close() {
	if e.sys != nil {
		// Close can only fail for a watcher that is closed already.
		_ = e.sys.Close()
	}
	<-e.done
}

// arm listens to every followed directory, to the nearest existing directory above it (where its removal, its re-creation and the
// swap of a symbolic link show), and to the directories that followed links lead to. It reports whether any of them is new.
func (e *events) arm(dirs map[string]*dir) (added bool) {
	if e.sys == nil {
		return false
	}
	want, places := wantedBy(dirs)
	e.wanted.Store(want)
	listed := e.sys.WatchList()
	e.broken = false
	for _, place := range places {
		added = e.listen(place, listed) || added
	}
	for place := range e.armed {
		if !slices.Contains(places, place) {
			delete(e.armed, place)
			// The watch may be gone with its directory.
			_ = e.sys.Remove(place)
		}
	}
	return added
}

// wantedBy works out which events matter and the real directories where they occur.
func wantedBy(dirs map[string]*dir) (want *interest, places []string) {
	want = &interest{dirs: map[string]bool{}, names: map[string]bool{}}
	for path, d := range dirs {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			want.dirs[real] = true
			places = append(places, real)
		}
		above, next := nearestAbove(path)
		want.names[filepath.Join(above, next)] = true
		places = append(places, above)
		for _, link := range d.links {
			want.names[link] = true
			places = append(places, filepath.Dir(link))
		}
	}
	slices.Sort(places)
	return want, slices.Compact(places)
}

// listen puts a watch on one real directory unless it is there already, on this very inode.
func (e *events) listen(place string, listed []string) bool {
	info, err := os.Stat(place)
	if err != nil {
		return false
	}
	if old, ok := e.armed[place]; ok && os.SameFile(old, info) && slices.Contains(listed, place) {
		return false
	}
	// There may be no watch to remove, which is what we want.
	_ = e.sys.Remove(place)
	if err := e.sys.Add(place); err != nil {
		delete(e.armed, place)
		if !errors.Is(err, fs.ErrNotExist) {
			e.giveUp(place, err)
		}
		return false
	}
	e.armed[place] = info
	return true
}

// giveUp turns polling on until every watch can be had, and says so once.
func (e *events) giveUp(place string, err error) {
	e.broken = true
	if !e.warned {
		e.warned = true
		e.log.Warn("no file events for a directory, polling as well", "dir", place, "error", err)
	}
}

// nearestAbove finds the closest existing directory above path, as a real path, and the name of the entry in it that leads to path.
func nearestAbove(path string) (above, next string) {
	for up := filepath.Dir(path); ; up = filepath.Dir(up) {
		real, err := filepath.EvalSymlinks(up)
		if err != nil && up != filepath.Dir(up) {
			continue
		}
		if err != nil {
			real = up
		}
		rest := strings.TrimPrefix(path[len(up):], string(filepath.Separator))
		next, _, _ = strings.Cut(rest, string(filepath.Separator))
		return real, next
	}
}
