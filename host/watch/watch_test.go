package watch

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// quick makes tests wait for conditions, not for defaults. The rescan stays far away, so that it hides no missed event.
var quick = Options{Debounce: 5 * time.Millisecond, MaxDelay: 50 * time.Millisecond, Rescan: time.Hour, Poll: 10 * time.Millisecond}

// eachMode runs a test with system events and with polling alone.
func eachMode(t *testing.T, test func(t *testing.T, opt *Options)) {
	t.Helper()
	for _, pollOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("pollOnly=%v", pollOnly), func(t *testing.T) {
			opt := quick
			opt.PollOnly = pollOnly
			test(t, &opt)
		})
	}
}

func start(t *testing.T, opt *Options) *Watcher {
	t.Helper()
	w := New(opt)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// must fails the test on an error of the file system.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await receives announcements until the snapshot holds exactly the given base names and contents.
func await(t *testing.T, w *Watcher, want map[string]string) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		snap := w.Snapshot()
		if holds(snap, want) {
			return
		}
		select {
		case <-w.Changes():
		case <-limit.C:
			t.Fatalf("never settled on %v; the snapshot is %+v", want, snap)
		}
	}
}

func holds(s Snapshot, want map[string]string) bool {
	if len(s.Files) != len(want) {
		return false
	}
	for _, f := range s.Files {
		content, ok := want[filepath.Base(f.Path)]
		if !ok || f.Err != nil || f.Sum != sha256.Sum256([]byte(content)) {
			return false
		}
	}
	return true
}

func TestAddTakesTheFirstSnapshot(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.wasm"), "one")
	write(t, filepath.Join(dir, "b.txt"), "not followed")
	write(t, filepath.Join(dir, ".hidden.wasm"), "not followed")
	must(t, os.Mkdir(filepath.Join(dir, "sub.wasm"), 0o700))
	w := start(t, &quick)
	w.Add(dir, func(name string) bool { return strings.HasSuffix(name, ".wasm") })
	if s := w.Snapshot(); !holds(s, map[string]string{"a.wasm": "one"}) {
		t.Fatalf("snapshot %+v", s)
	}
	if f, ok := w.Snapshot().Find(filepath.Join(dir, "a.wasm")); !ok || f.Size != 3 {
		t.Fatalf("Find: %+v %v", f, ok)
	}
	if _, ok := w.Snapshot().Find("elsewhere"); ok {
		t.Fatal("found what is not there")
	}
}

func TestFileLife(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		dir := t.TempDir()
		a := filepath.Join(dir, "a")
		w := start(t, opt)
		w.Add(dir, nil)
		write(t, a, "one")
		await(t, w, map[string]string{"a": "one"})
		write(t, a, "two, longer")
		await(t, w, map[string]string{"a": "two, longer"})
		must(t, os.Remove(a))
		await(t, w, nil)
	})
}

func TestRenameOverWrite(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "rules"), "0")
		w := start(t, opt)
		w.AddFile(filepath.Join(dir, "rules"))
		for i := range 20 {
			content := strings.Repeat("x", i+1)
			tmp := filepath.Join(dir, "rules.tmp")
			write(t, tmp, content)
			must(t, os.Rename(tmp, filepath.Join(dir, "rules")))
			await(t, w, map[string]string{"rules": content})
		}
	})
}

func TestHalfWrittenFileIsSeenAgainWhenComplete(t *testing.T) {
	dir := t.TempDir()
	w := start(t, &quick)
	w.Add(dir, nil)
	f, err := os.Create(filepath.Join(dir, "a"))
	must(t, err)
	defer f.Close()
	_, err = f.WriteString("first half, ")
	must(t, err)
	await(t, w, map[string]string{"a": "first half, "})
	_, err = f.WriteString("second half")
	must(t, err)
	await(t, w, map[string]string{"a": "first half, second half"})
}

// A Kubernetes ConfigMap volume: the file is a link through ..data, which is a link that gets replaced by rename.
func TestConfigMapSymlinkSwap(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		dir := t.TempDir()
		publish := func(version, content string) {
			must(t, os.Mkdir(filepath.Join(dir, ".."+version), 0o700))
			write(t, filepath.Join(dir, ".."+version, "policy.yaml"), content)
			must(t, os.Symlink(".."+version, filepath.Join(dir, "..data_tmp")))
			must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		}
		publish("v1", "one")
		must(t, os.Symlink(filepath.Join("..data", "policy.yaml"), filepath.Join(dir, "policy.yaml")))
		w := start(t, opt)
		w.Add(dir, nil)
		await(t, w, map[string]string{"policy.yaml": "one"})
		publish("v2", "two, longer")
		must(t, os.RemoveAll(filepath.Join(dir, "..v1")))
		await(t, w, map[string]string{"policy.yaml": "two, longer"})
		publish("v3", "three, longer still")
		await(t, w, map[string]string{"policy.yaml": "three, longer still"})
	})
}

func TestLinkIntoAnotherDirectory(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := filepath.Join(elsewhere, "target")
	write(t, target, "one")
	w := start(t, &quick)
	w.Add(dir, nil)
	must(t, os.Symlink(target, filepath.Join(dir, "link")))
	await(t, w, map[string]string{"link": "one"})
	write(t, target, "edited in place")
	await(t, w, map[string]string{"link": "edited in place"})
}

func TestDirectoryRemovedAndMadeAgain(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		dir := filepath.Join(t.TempDir(), "plugins")
		must(t, os.Mkdir(dir, 0o700))
		w := start(t, opt)
		w.Add(dir, nil)
		for i := range 5 {
			content := fmt.Sprintf("round %d", i)
			write(t, filepath.Join(dir, "a"), content)
			await(t, w, map[string]string{"a": content})
			must(t, os.RemoveAll(dir))
			await(t, w, nil)
			must(t, os.Mkdir(dir, 0o700))
		}
		write(t, filepath.Join(dir, "b"), "last")
		await(t, w, map[string]string{"b": "last"})
	})
}

func TestDirectoryMovedAwayAndReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	must(t, os.Mkdir(dir, 0o700))
	w := start(t, &quick)
	w.Add(dir, nil)
	must(t, os.Rename(dir, dir+".old"))
	must(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "a"), "new")
	await(t, w, map[string]string{"a": "new"})
	write(t, filepath.Join(dir, "a"), "newer")
	await(t, w, map[string]string{"a": "newer"})
}

func TestDirectoryThatComesLater(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		base := t.TempDir()
		dir := filepath.Join(base, "not", "yet", "there")
		w := start(t, opt)
		w.Add(dir, nil)
		if m := w.Snapshot().Missing; len(m) != 1 || m[0].Path != dir || m[0].Err == nil {
			t.Fatalf("missing: %+v", m)
		}
		must(t, os.MkdirAll(dir, 0o700))
		write(t, filepath.Join(dir, "a"), "here")
		await(t, w, map[string]string{"a": "here"})
		if m := w.Snapshot().Missing; len(m) != 0 {
			t.Fatalf("missing: %+v", m)
		}
	})
}

func TestLinkedDirectorySwapped(t *testing.T) {
	eachMode(t, func(t *testing.T, opt *Options) {
		base := t.TempDir()
		release := func(name, content string) string {
			must(t, os.Mkdir(filepath.Join(base, name), 0o700))
			write(t, filepath.Join(base, name, "a"), content)
			return name
		}
		current := filepath.Join(base, "current")
		must(t, os.Symlink(release("r1", "one"), current))
		w := start(t, opt)
		w.Add(current, nil)
		must(t, os.Symlink(release("r2", "two, longer"), current+".tmp"))
		must(t, os.Rename(current+".tmp", current))
		await(t, w, map[string]string{"a": "two, longer"})
		write(t, filepath.Join(base, "r2", "a"), "edited after the swap")
		await(t, w, map[string]string{"a": "edited after the swap"})
	})
}

func TestThousandRapidWrites(t *testing.T) {
	dir := t.TempDir()
	w := start(t, &quick)
	w.Add(dir, nil)
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			for i := range 500 {
				path := filepath.Join(dir, name)
				if i%2 == 0 {
					_ = os.WriteFile(path+".tmp~", fmt.Appendf(nil, "%s %d", name, i), 0o600)
					_ = os.Rename(path+".tmp~", path)
				} else {
					_ = os.WriteFile(path, fmt.Appendf(nil, "%s %d", name, i), 0o600)
				}
			}
		})
	}
	wg.Wait()
	await(t, w, map[string]string{"a": "a 499", "b": "b 499"})
}

func TestSameContentIsNoChange(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	write(t, a, "same")
	w := start(t, &quick)
	w.Add(dir, nil)
	write(t, a, "same")
	must(t, os.Chtimes(a, time.Now(), time.Now().Add(time.Hour)))
	w.settle()
	select {
	case <-w.Changes():
		t.Fatal("announced a change of nothing")
	default:
	}
}

func TestSecondDirectoryHidesNoChangeOfTheFirst(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	w := start(t, &quick)
	w.Add(one, nil)
	write(t, filepath.Join(one, "a"), "new")
	w.Add(two, nil)
	select {
	case <-w.Changes():
	case <-time.After(30 * time.Second):
		t.Fatal("the change was swallowed")
	}
	await(t, w, map[string]string{"a": "new"})
}

func TestOneDirectoryForTwoPurposes(t *testing.T) {
	dir := t.TempDir()
	w := start(t, &quick)
	w.Add(dir, func(name string) bool { return strings.HasSuffix(name, ".wasm") })
	w.AddFile(filepath.Join(dir, "policy.yaml"))
	write(t, filepath.Join(dir, "a.wasm"), "one")
	write(t, filepath.Join(dir, "policy.yaml"), "two")
	write(t, filepath.Join(dir, "other.yaml"), "three")
	await(t, w, map[string]string{"a.wasm": "one", "policy.yaml": "two"})
}

func TestRemoveForgetsFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "one")
	w := start(t, &quick)
	w.Add(dir, nil)
	w.Remove(dir)
	await(t, w, nil)
	w.Remove(dir)
}

func TestRescanFindsWhatNoEventTold(t *testing.T) {
	dir := t.TempDir()
	opt := quick
	opt.Rescan = 10 * time.Millisecond
	w := start(t, &opt)
	w.Add(dir, nil)
	w.mu.Lock()
	w.events.wanted.Store(&interest{}) // deaf
	w.mu.Unlock()
	write(t, filepath.Join(dir, "a"), "found")
	await(t, w, map[string]string{"a": "found"})
}

func TestFallsBackToPollingWhenWatchesFail(t *testing.T) {
	dir := t.TempDir()
	w := start(t, &quick)
	must(t, w.events.sys.Close())
	w.Add(dir, nil)
	if !w.Polling() {
		t.Fatal("claims to have events")
	}
	write(t, filepath.Join(dir, "a"), "found")
	await(t, w, map[string]string{"a": "found"})
}

func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	opt := quick
	opt.MaxFileBytes = 8
	write(t, filepath.Join(dir, "large"), "more than eight bytes")
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	w := start(t, &opt)
	w.Add(dir, nil)
	s := w.Snapshot()
	f, ok := s.Find(filepath.Join(dir, "large"))
	if !ok || f.Err != ErrTooLarge {
		t.Fatalf("large: %+v", f)
	}
	if f, ok := s.Find(filepath.Join(dir, "loop")); !ok || f.Err == nil {
		t.Fatalf("a link to itself must be reported with its error: %+v", f)
	}
	if _, ok := s.Find(filepath.Join(dir, "dangling")); ok {
		t.Fatal("a link to nothing is no file")
	}
}

func TestUnsettledFileKeepsItsLastState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "content")
	if _, err := hashContent(path, 3); err != errUnsettled {
		t.Fatalf("a file longer than it says: %v", err)
	}
}

func TestNoiseNextDoorIsIgnored(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir := filepath.Join(base, "plugins")
	must(t, os.Mkdir(dir, 0o700))
	want, places := wantedBy(map[string]*dirT{dir: {path: dir}})
	if len(places) != 2 {
		t.Fatalf("places %v", places)
	}
	for name, matters := range map[string]bool{
		filepath.Join(base, "noise"): false,
		dir:                          true,
		filepath.Join(dir, "a"):      true,
		base:                         false,
	} {
		if want.matches(name) != matters {
			t.Errorf("%s: matches = %v", name, !matters)
		}
	}
}

// dirT lets a test name the type where a variable called dir hides it.
type dirT = dir

func TestHammer(t *testing.T) {
	before := runtime.NumGoroutine()
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	w := New(&quick)
	var wg sync.WaitGroup
	for i, d := range dirs {
		wg.Go(func() {
			for round := range 50 {
				w.Add(d, nil)
				_ = os.WriteFile(filepath.Join(d, "f"), fmt.Appendf(nil, "%d %d", i, round), 0o600)
				w.Check()
				_ = w.Snapshot()
				_ = w.Polling()
				if round%10 == 9 {
					w.Remove(d)
				}
			}
			w.Add(d, nil)
		})
	}
	wg.Wait()
	if n := len(w.Snapshot().Files); n != len(dirs) {
		t.Fatalf("%d files, want %d", n, len(dirs))
	}
	must(t, w.Close())
	must(t, w.Close())
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 5000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}
