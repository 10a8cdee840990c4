package wasm

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
	"github.com/amygdala-host/amygdala/host/guest"
)

// calling builds a plugin that calls one stub with constant arguments. It answers 256 bytes: the errno, then memory from answerAt+4,
// which mem fills beforehand.
func calling(t *testing.T, name string, mem []byte, args ...int64) []byte {
	t.Helper()
	i, ok := imports()[name]
	if !ok || len(i.Params) != len(args) {
		t.Fatalf("%s with %d arguments", name, len(args))
	}
	types := func(list []abi.ValueType) (b []byte) {
		for _, v := range list {
			b = append(b, byte(v))
		}
		return b
	}
	a := newAsm()
	f := a.importFunc(abi.ImportModule, name, types(i.Params), types(i.Results))
	body := code(i32c(answerAt))
	for n, v := range args {
		if i.Params[n] == abi.I64 {
			body = append(body, i64c(v)...)
		} else {
			body = append(body, i32c(v)...)
		}
	}
	a.memory(2)
	a.data(answerAt+4, mem)
	return a.plugin(0, body, callf(f), store32(0), answer(answerAt, 256))
}

// stubCall runs it and returns the errno and the memory behind answerAt+4.
func stubCall(t *testing.T, c guest.Call, name string, mem []byte, args ...int64) (uint32, []byte, guest.Answer) {
	t.Helper()
	e := openEngine(t, Options{})
	m := load(t, e, calling(t, name, mem, args...), guest.LoadOptions{})
	c.Op, c.Body = 16, []byte("x")
	a, err := m.Call(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return binary.LittleEndian.Uint32(a.Body), a.Body[4:], a
}

const (
	area = answerAt + 4  // where a stub may write
	out  = 2 * pageBytes // the first address outside memory
)

func TestStubsAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		args []int64
		want uint32
	}{
		{"args_get", []int64{0, 0}, abi.ErrnoSuccess},
		{"args_sizes_get", []int64{area, area + 4}, abi.ErrnoSuccess},
		{"args_sizes_get", []int64{area, out - 3}, abi.ErrnoFault},
		{"environ_sizes_get", []int64{area, area + 4}, abi.ErrnoSuccess},
		{"clock_res_get", []int64{1, area}, abi.ErrnoSuccess},
		{"clock_res_get", []int64{2, area}, abi.ErrnoInval},
		{"clock_time_get", []int64{3, 0, area}, abi.ErrnoInval},
		{"clock_time_get", []int64{0, 0, out - 7}, abi.ErrnoFault},
		{"sched_yield", nil, abi.ErrnoSuccess},
		{"random_get", []int64{area, 16}, abi.ErrnoSuccess},
		{"random_get", []int64{area, out}, abi.ErrnoFault},
		{"fd_fdstat_get", []int64{2, area}, abi.ErrnoSuccess},
		{"fd_fdstat_get", []int64{3, area}, abi.ErrnoBadf},
		{"fd_fdstat_get", []int64{2, out - 23}, abi.ErrnoFault},
		{"fd_filestat_get", []int64{1, area}, abi.ErrnoSuccess},
		{"fd_filestat_get", []int64{9, area}, abi.ErrnoBadf},
		{"fd_filestat_get", []int64{1, out}, abi.ErrnoFault},
		{"fd_close", []int64{1}, abi.ErrnoSuccess},
		{"fd_close", []int64{3}, abi.ErrnoBadf},
		{"fd_seek", []int64{0, 0, 0, area}, abi.ErrnoSpipe},
		{"fd_tell", []int64{3, area}, abi.ErrnoBadf},
		{"fd_read", []int64{0, 0, 0, area}, abi.ErrnoSuccess},
		{"fd_read", []int64{0, 0, 0, out}, abi.ErrnoFault},
		{"fd_read", []int64{1, 0, 0, area}, abi.ErrnoBadf},
		{"fd_prestat_get", []int64{3, area}, abi.ErrnoBadf},
		{"path_open", []int64{3, 0, 0, 0, 0, 0, 0, 0, area}, abi.ErrnoBadf},
		{"fd_write", []int64{0, area, 1, area + 8}, abi.ErrnoBadf},
		{"fd_write", []int64{2, area, maxVectors + 1, area + 8}, abi.ErrnoInval},
		{"fd_write", []int64{2, area, 1 << 29, area + 8}, abi.ErrnoInval}, // times 8 is 0
		{"fd_write", []int64{2, out - 7, 1, area + 8}, abi.ErrnoFault},
		{"poll_oneoff", []int64{area, area, 0, area}, abi.ErrnoInval},
		{"poll_oneoff", []int64{area, area, 1 << 28, area}, abi.ErrnoInval},
		{"poll_oneoff", []int64{area, out - 31, 1, area}, abi.ErrnoFault},
	} {
		if got, _, _ := stubCall(t, guest.Call{}, c.name, nil, c.args...); got != c.want {
			t.Errorf("%s%v answered %d, want %d", c.name, c.args, got, c.want)
		}
	}
}

func TestClockComesFromTheRequest(t *testing.T) {
	_, mem, _ := stubCall(t, guest.Call{Clock: 1234567}, "clock_time_get", nil, 0, 0, area)
	if got := binary.LittleEndian.Uint64(mem); got != 1234567 {
		t.Errorf("wall time is %d", got)
	}
	_, mem, _ = stubCall(t, guest.Call{Clock: -5}, "clock_time_get", nil, 1, 0, area)
	if got := binary.LittleEndian.Uint64(mem); got != bootClock {
		t.Errorf("monotonic time is %d, want that of the snapshot", got)
	}
}

func TestRandomnessComesFromTheSeed(t *testing.T) {
	draw := func(seed uint64) []byte {
		_, mem, _ := stubCall(t, guest.Call{Seed: seed}, "random_get", nil, area, 32)
		return bytes.Clone(mem[:32])
	}
	if !bytes.Equal(draw(1), draw(1)) {
		t.Error("one seed gave two sequences")
	}
	if bytes.Equal(draw(1), draw(2)) || bytes.Equal(draw(1), make([]byte, 32)) {
		t.Error("two seeds gave one sequence, or none")
	}
}

func TestWriteJoinsVectors(t *testing.T) {
	vectors := append(pairs(area+24, 5, area+29, 0, area+24, 3), "hello"...)
	errno, mem, a := stubCall(t, guest.Call{}, "fd_write", vectors, 2, area, 3, area+100)
	if errno != 0 || string(a.Log) != "hellohel" || binary.LittleEndian.Uint32(mem[100:]) != 8 {
		t.Errorf("errno %d, log %q, %d bytes written", errno, a.Log, binary.LittleEndian.Uint32(mem[100:]))
	}
}

// subscription is one entry of poll_oneoff.
func subscription(user uint64, tag byte, clock uint32, timeout uint64, absolute bool) []byte {
	b := make([]byte, subscriptionSize)
	binary.LittleEndian.PutUint64(b, user)
	b[8] = tag
	binary.LittleEndian.PutUint32(b[16:], clock)
	binary.LittleEndian.PutUint64(b[24:], timeout)
	if absolute {
		b[40] = clockAbsolute
	}
	return b
}

func TestPollNeverWaits(t *testing.T) {
	for name, c := range map[string]struct {
		subs   [][]byte
		events uint32
		user   uint64
		errno  uint16
	}{
		"an hour":              {[][]byte{subscription(7, 0, 1, 3600e9, false)}, 1, 7, 0},
		"for ever":             {[][]byte{subscription(7, 0, 1, math.MaxUint64, false)}, 1, 7, 0},
		"the earlier of two":   {[][]byte{subscription(1, 0, 1, 100, false), subscription(2, 0, 1, 99, false)}, 1, 2, 0},
		"both at once":         {[][]byte{subscription(1, 0, 1, 100, false), subscription(2, 0, 0, 1100, true)}, 2, 1, 0},
		"already over":         {[][]byte{subscription(3, 0, 0, 10, true)}, 1, 3, 0},
		"a file beside a wait": {[][]byte{subscription(1, 0, 1, 100, false), subscription(5, 1, 0, 0, false)}, 1, 5, abi.ErrnoBadf},
	} {
		subs := bytes.Join(c.subs, nil)
		errno, mem, _ := stubCall(t, guest.Call{Clock: 1000}, "poll_oneoff", subs, area, area+100, int64(len(c.subs)), area+200)
		if n := binary.LittleEndian.Uint32(mem[200:]); errno != 0 || n != c.events {
			t.Errorf("%s: errno %d, %d events, want %d", name, errno, n, c.events)
			continue
		}
		if user, e := binary.LittleEndian.Uint64(mem[100:]), binary.LittleEndian.Uint16(mem[108:]); user != c.user || e != c.errno {
			t.Errorf("%s: event of %d with errno %d, want %d with %d", name, user, e, c.user, c.errno)
		}
	}
}

func TestRingKeepsTheEnd(t *testing.T) {
	var r ring
	for _, limit := range []int{0, 1, 3, 10} {
		r.reset(limit)
		var all []byte
		for i := range 30 {
			p := bytes.Repeat([]byte{byte('a' + i%26)}, i%7)
			r.write(p)
			all = append(all, p...)
			if want := all[max(0, len(all)-limit):]; !bytes.Equal(r.bytes(), want) {
				t.Fatalf("limit %d: kept %q, want %q", limit, r.bytes(), want)
			}
		}
	}
}
