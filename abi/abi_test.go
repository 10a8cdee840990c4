package abi_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("the file is empty; write a manifest")
	for want, err := range map[string]error{
		"load zebra.wasm: the file is empty; write a manifest (refused)": abi.E("load", v1.ErrorKindRefused, "zebra.wasm", cause),
		"load (trap)":               abi.E("load", v1.ErrorKindTrap, "", nil),
		"fuel":                      abi.E("", v1.ErrorKindFuel, "", nil),
		"scan: load (trap)":         abi.E("scan", v1.ErrorKindTrap, "", abi.E("load", v1.ErrorKindTrap, "", nil)),
		"scan: load (trap) (limit)": abi.E("scan", v1.ErrorKindLimit, "", abi.E("load", v1.ErrorKindTrap, "", nil)),
	} {
		if err.Error() != want {
			t.Errorf("got %q\nwant %q", err, want)
		}
	}
}

func TestErrorMatching(t *testing.T) {
	cause := io.ErrUnexpectedEOF
	err := abi.E("scan", v1.ErrorKindUnspecified, "a.txt", abi.E("read", v1.ErrorKindIO, "disk", cause))
	if abi.KindOf(err) != v1.ErrorKindIO {
		t.Errorf("the kind of the cause is lost: %v", abi.KindOf(err))
	}
	for _, yes := range []error{&abi.Error{Kind: v1.ErrorKindIO}, &abi.Error{Op: "read"}, &abi.Error{Op: "read", Err: cause}, &abi.Error{}, cause} {
		if !errors.Is(err, yes) {
			t.Errorf("does not match %v", yes)
		}
	}
	for _, no := range []error{&abi.Error{Kind: v1.ErrorKindLimit}, &abi.Error{Op: "read", Subject: "a.txt"}, io.EOF} {
		if errors.Is(err, no) {
			t.Errorf("matches %v", no)
		}
	}
}

func TestKindOf(t *testing.T) {
	for want, err := range map[v1.ErrorKind]error{
		v1.ErrorKindUnspecified: nil,
		v1.ErrorKindInternal:    errors.New("plain"),
		v1.ErrorKindProtocol:    v1.CheckStrictVerdict([]byte{0}),
		v1.ErrorKindDenied:      abi.E("", v1.ErrorKindDenied, "", nil),
	} {
		if got := abi.KindOf(err); got != want {
			t.Errorf("%v: got %v, want %v", err, got, want)
		}
	}
}

func TestErrorOnTheWire(t *testing.T) {
	long := strings.Repeat("x", 2*abi.MaxErrorMessage)
	w := abi.ToWire(abi.E("detect", v1.ErrorKindLimit, "views", errors.New(long)))
	if len(w.Message) != abi.MaxErrorMessage {
		t.Errorf("%d bytes of message", len(w.Message))
	}
	if err := w.Validate(); err != nil {
		t.Error(err)
	}
	back := abi.FromWire(w)
	if !errors.Is(back, &abi.Error{Op: "detect", Kind: v1.ErrorKindLimit, Subject: "views"}) || !strings.Contains(back.Error(), "xxx") {
		t.Errorf("got %v", back)
	}
	if abi.ToWire(nil) != nil || abi.FromWire(nil) != nil {
		t.Error("no error became one")
	}
	if w := abi.ToWire(errors.New("plain")); w.Kind != v1.ErrorKindInternal || string(w.Message) != "plain" {
		t.Errorf("got %+v", w)
	}
	odd := abi.ToWire(abi.E("\xff", v1.ErrorKindLimit, "\xfe", nil))
	if err := odd.Validate(); err != nil {
		t.Errorf("what is not UTF-8 must be mended: %v", err)
	}
}

func TestImports(t *testing.T) {
	list := abi.Imports()
	if !slices.IsSortedFunc(list, func(a, b abi.Import) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for i, f := range list {
		if i > 0 && list[i-1].Name == f.Name {
			t.Errorf("%s is there twice", f.Name)
		}
		if f.Does == "" || (f.Name == "proc_exit") != (len(f.Results) == 0) {
			t.Errorf("%+v", f)
		}
		if strings.HasPrefix(f.Name, "sock_") {
			t.Errorf("%s: there are no sockets", f.Name)
		}
	}
	list[0].Name = "changed"
	if abi.Imports()[0].Name == "changed" {
		t.Error("a caller can change the list")
	}
}

// TestOps holds the table of ops against the .proto files: every op once, every member of a body used.
func TestOps(t *testing.T) {
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"v1"}}}
	files, err := c.Compile(t.Context(), "plugin.proto")
	if err != nil {
		t.Fatal(err)
	}
	request, response := numbers(files[0], "Request"), numbers(files[0], "Response")
	delete(response, 1) // error answers every op
	seen := map[v1.Op]bool{}
	for _, s := range abi.Ops() {
		if seen[s.Op] || !s.Op.Known() {
			t.Errorf("%v: twice, or unknown", s.Op)
		}
		seen[s.Op] = true
		if got, ok := abi.SpecOf(s.Op); !ok || got != s {
			t.Errorf("SpecOf(%v) = %+v", s.Op, got)
		}
		if !request[s.Request] {
			t.Errorf("%v: field %d of Request is no member, or another op's", s.Op, s.Request)
		}
		delete(request, s.Request)
		response[s.Response] = false
	}
	if len(seen) != len(v1.OpValues()) || len(request) > 0 {
		t.Errorf("%d ops of %d; members of Request without an op: %v", len(seen), len(v1.OpValues()), request)
	}
	for n, unused := range response {
		if unused {
			t.Errorf("member %d of Response answers no op", n)
		}
	}
}

// numbers are the members of the body of an envelope.
func numbers(f protoreflect.FileDescriptor, name string) map[int]bool {
	fields := f.Messages().ByName(protoreflect.Name(name)).Oneofs().ByName("body").Fields()
	all := map[int]bool{}
	for i := range fields.Len() {
		all[int(fields.Get(i).Number())] = true
	}
	return all
}
