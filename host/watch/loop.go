package watch

import "time"

// debounce decides when to look: after a quiet spell, and at the latest MaxDelay after the first event of a burst.
type debounce struct {
	timer *time.Timer
	quiet time.Duration
	max   time.Duration
	first time.Time
}

func newDebounce(quiet, most time.Duration) *debounce {
	d := &debounce{timer: time.NewTimer(time.Hour), quiet: quiet, max: most}
	d.timer.Stop()
	return d
}

// hit notes an event.
func (d *debounce) hit() {
	now := time.Now()
	if d.first.IsZero() {
		d.first = now
	}
	d.timer.Reset(max(0, min(d.quiet, d.max-now.Sub(d.first))))
}

// fired starts the next burst.
func (d *debounce) fired() { d.first = time.Time{} }

// loop is the watcher's only goroutine.
func (w *Watcher) loop() {
	defer close(w.stopped)
	defer w.events.close()
	settle := newDebounce(w.opt.Debounce, w.opt.MaxDelay)
	rescan := time.NewTicker(w.opt.Rescan)
	defer rescan.Stop()
	poll := time.NewTicker(w.opt.Poll)
	defer poll.Stop()
	var seen string
	for {
		select {
		case <-w.stop:
			return
		case <-w.wake:
			settle.hit()
		case <-w.events.notify():
			settle.hit()
		case <-rescan.C:
			settle.hit()
		case <-poll.C:
			if now, on := w.outline(); on && now != seen {
				seen = now
				settle.hit()
			}
		case <-settle.timer.C:
			settle.fired()
			if w.settle() {
				settle.hit()
			}
		}
	}
}

// settle looks at all files and announces a difference. It reports whether another look is due: a file was being written, or a
// directory is listened to only since this look began.
func (w *Watcher) settle() (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events.arm(w.dirs)
	changed := false
	for _, d := range w.dirs {
		differs, unsettled := d.scan(w.opt.MaxFileBytes)
		changed = changed || differs
		again = again || unsettled
	}
	if changed {
		w.announce()
	}
	// Scanning may have found links into directories that nobody listened to while they were read.
	return w.events.arm(w.dirs) || again
}

func (w *Watcher) announce() {
	select {
	case w.changes <- struct{}{}:
	default:
	}
}

// outline describes the files cheaply, when polling is needed at all.
func (w *Watcher) outline() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.events.polling() {
		return "", false
	}
	return outline(w.dirs), true
}
