package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// openInput opens a file, or in for "-". What may block for ever (a pipe, a terminal, a device) stops blocking when ctx ends.
func openInput(ctx context.Context, name string, in io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return interruptible(ctx, in, io.NopCloser(in)), nil
	}
	if st, err := os.Stat(name); err != nil || st.Mode().IsRegular() || st.IsDir() {
		return os.Open(name)
	}
	f, err := openSlow(ctx, name)
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, f, f), nil
}

// openSlow opens a file whose opening may wait for somebody else, as that of a named pipe does.
func openSlow(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// interruptible reads r until ctx ends. A read that blocks then is left behind; the process is about to end.
func interruptible(ctx context.Context, r io.Reader, c io.Closer) io.ReadCloser {
	if f, ok := r.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return struct {
				io.Reader
				io.Closer
			}{f, c}
		}
	}
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(pw, r)
		pw.CloseWithError(err)
	}()
	return struct {
		io.Reader
		io.Closer
	}{pr, closeFunc(func() error {
		stop()
		pr.Close()
		return c.Close()
	})}
}

type closeFunc func() error

func (f closeFunc) Close() error { return f() }

// openRows is openInput for rows: names that end in .gz are unpacked, and a byte order mark is passed over.
func openRows(ctx context.Context, name string, in io.Reader) (io.ReadCloser, error) {
	f, err := openInput(ctx, name, in)
	if err != nil {
		return nil, err
	}
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: not a gzip file: %w", name, err)
		}
	}
	b := bufio.NewReader(r)
	if head, err := b.Peek(3); err == nil && string(head) == "\ufeff" {
		_, _ = b.Discard(3)
	}
	return struct {
		io.Reader
		io.Closer
	}{b, f}, nil
}

// eachRow calls f for each line of r with its line number. An undecodable line is an error that names file and line.
func eachRow(name string, r io.Reader, f func(line int, row *row) error) error {
	sc := newLines(r)
	line := 0
	for sc.Scan() {
		line++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		x, err := decodeRow(sc.Bytes())
		if err != nil {
			return fmt.Errorf("%s:%d: not a JSON row: %w", name, line, err)
		}
		if err := f(line, x); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: the line has more than %d bytes, the most that is read", name, line+1, maxLine)
	case err != nil:
		return fmt.Errorf("%s: read after line %d: %w", name, line, err)
	}
	return nil
}

// newLines scans lines. A line that a read error cuts off is not handed out: a bufio.Scanner alone would.
func newLines(r io.Reader) *bufio.Scanner {
	watched := &failure{r: r}
	sc := bufio.NewScanner(watched)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if atEOF && watched.err != nil && !bytes.ContainsRune(data, '\n') {
			return 0, nil, watched.err
		}
		return bufio.ScanLines(data, atEOF)
	})
	return sc
}

// failure remembers the error that ended a reader too early.
type failure struct {
	r   io.Reader
	err error
}

func (f *failure) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
