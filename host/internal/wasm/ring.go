package wasm

// A ring keeps the last bytes written to it.
type ring struct {
	buf   []byte
	limit int
	// next is where the next byte goes once the ring is full.
	next int
}

func (r *ring) reset(limit int) { r.buf, r.limit, r.next = r.buf[:0], limit, 0 }

// write keeps at most the last limit bytes and returns how many it copied.
func (r *ring) write(p []byte) int {
	p = p[max(0, len(p)-r.limit):]
	copied := len(p)
	if room := r.limit - len(r.buf); room > 0 {
		n := min(room, len(p))
		r.buf = append(r.buf, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		r.next = (r.next + n) % r.limit
		p = p[n:]
	}
	return copied
}

// bytes returns a copy of what is kept, oldest first, or nil.
func (r *ring) bytes() []byte {
	if len(r.buf) == 0 {
		return nil
	}
	out := make([]byte, 0, len(r.buf))
	return append(append(out, r.buf[r.next:]...), r.buf[:r.next]...)
}
