package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progress draws one line on a terminal while a long input is read; elsewhere it is silent. It counts bytes read against the file's size
// when that is known.
type progress struct {
	w        io.Writer
	size     int64
	read     atomic.Int64
	rows     int
	started  time.Time
	lastDraw time.Time
	drew     bool
}

// newProgress draws on w if it is a terminal. name is the input; its size is looked up.
func newProgress(w io.Writer, name string) *progress {
	p := &progress{started: time.Now()}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.w = w
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
		p.size = st.Size()
	}
	return p
}

// reader counts what passes. For a .gz input it counts unpacked bytes, so the share is left out there.
func (p *progress) reader(r io.Reader) io.Reader { return countingReader{r, &p.read} }

type countingReader struct {
	r io.Reader
	n *atomic.Int64
}

func (c countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// tick counts a row and redraws at most five times a second, after a first second of silence.
func (p *progress) tick() {
	p.rows++
	now := time.Now()
	if p.w == nil || now.Sub(p.started) < time.Second || now.Sub(p.lastDraw) < 200*time.Millisecond {
		return
	}
	p.lastDraw, p.drew = now, true
	rate := float64(p.rows) / now.Sub(p.started).Seconds()
	if n := p.read.Load(); p.size > 0 && n <= p.size {
		const width = 30
		full := int(n * width / p.size)
		fmt.Fprintf(p.w, "\r[%s%s] %3d%%  %d rows, %.0f/s ", bar('#', full), bar('.', width-full), n*100/p.size, p.rows, rate)
		return
	}
	fmt.Fprintf(p.w, "\r%d rows, %.0f/s ", p.rows, rate)
}

func (p *progress) done() {
	if p.drew {
		fmt.Fprint(p.w, "\r\033[K")
	}
}

func bar(c byte, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = c
	}
	return string(b)
}
