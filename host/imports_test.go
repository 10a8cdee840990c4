package host_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/amygdala-host/amygdala/"

// A rule forbids imports. The reason is printed when it is broken, so that the reader knows what the fix must preserve.
type rule struct {
	name   string
	in     func(pkg string) bool
	bans   func(pkg, imp string) bool
	reason string
}

func under(prefixes ...string) func(string) bool {
	return func(p string) bool {
		for _, x := range prefixes {
			if p == x || strings.HasPrefix(p, x+"/") {
				return true
			}
		}
		return false
	}
}

func own(imp string) (string, bool) { return strings.CutPrefix(imp, module) }
func thirdParty(imp string) bool {
	return strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !strings.HasPrefix(imp, module)
}
func ownOutside(allowed ...string) func(string, string) bool {
	in := under(allowed...)
	return func(_, imp string) bool { p, ok := own(imp); return ok && !in(p) }
}

// leaf is the folder directly under host/ that a package belongs to.
func leaf(p string) string {
	parts := strings.Split(p, "/")
	if len(parts) < 2 || parts[0] != "host" {
		return ""
	}
	return parts[1]
}

// doors maps a third-party library to the only packages that may import it.
var doors = map[string][]string{
	"github.com/tetratelabs/wazero":  {"host/internal/wasm", "host/internal/extism"},
	"github.com/hashicorp/go-plugin": {"host/internal/native"},
	"github.com/extism/go-sdk":       {"host/internal/extism"},
	"github.com/fsnotify/fsnotify":   {"host/watch"},
	"gopkg.in/yaml.v3":               {"policies", "signatures", "host/guest", "cmd"},
	"github.com/spf13/cobra":         {"cmd"},
	"github.com/prometheus":          {"host", "cmd"},
}

var rules = []rule{
	{"abi imports only the standard library", under("abi"),
		func(p, imp string) bool {
			if strings.HasPrefix(p, "abi/internal/gen") { // the generator reads .proto files and never reaches a guest
				return false
			}
			o, ok := own(imp)
			return thirdParty(imp) || ok && !under("abi")(o)
		},
		"a guest author builds against abi offline, and every byte of it ends up in every guest"},
	{"sdk imports only abi", func(p string) bool { return under("sdk")(p) && !under("sdk/conformance")(p) },
		func(p, imp string) bool { o, ok := own(imp); return thirdParty(imp) || ok && !under("abi", "sdk")(o) },
		"the guest side must never pull the host into a sandbox"},
	{"conformance drives the real engine and nothing else", under("sdk/conformance"), ownOutside("abi", "sdk", "host"),
		"a suite that does not run the engine proves nothing; it may not depend on what it judges (plugins) or on the CLI"},
	{"plugins never import the host", under("plugins"), ownOutside("abi", "sdk", "plugins"),
		"a plugin that needs the host would not be a plugin: everything it may know travels through the ABI"},
	{"signatures and policies import abi only", under("signatures", "policies"),
		func(p, imp string) bool {
			o, ok := own(imp)
			return ok && !under("abi", strings.SplitN(p, "/", 2)[0])(o)
		},
		"rules are data that any program may load without the host"},
	{"leaves of host never import each other or host", func(p string) bool { l := leaf(p); return l != "" && l != "internal" },
		func(p, imp string) bool {
			o, ok := own(imp)
			return ok && (o == "host" || leaf(o) != "" && leaf(o) != leaf(p))
		},
		"package host is the only wiring place, so that a newcomer finds each flow in one file"},
	{"host's internal drivers know only the driver seam", under("host/internal"),
		func(p, imp string) bool {
			o, ok := own(imp)
			return ok && !under("abi", "host/guest", "host/internal")(o)
		},
		"an engine that knew of policies or signatures could not be swapped"},
	{"nothing imports cmd", func(p string) bool { return !under("cmd")(p) },
		func(_, imp string) bool { o, ok := own(imp); return ok && under("cmd")(o) },
		"the CLI is a user of the host like any other"},
	{"one library, one door", func(string) bool { return true },
		func(p, imp string) bool {
			for lib, allowed := range doors {
				if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !under(allowed...)(p) {
					return true
				}
			}
			return false
		},
		"a library behind one door can be replaced, bounded and audited"},
}

var vague = []string{"types", "errors", "config", "utils", "util", "common", "models", "manager", "registry"}

func TestImportRules(t *testing.T) {
	for _, p := range listPackages(t) {
		path, _ := own(p.ImportPath)
		if slices.Contains(vague, p.Name) {
			t.Errorf("package %s is named %q: a name that says nothing becomes a drawer for everything", path, p.Name)
		}
		for _, r := range rules {
			if !r.in(path) {
				continue
			}
			for _, imp := range p.Imports {
				if r.bans(path, imp) {
					t.Errorf("%s imports %s\n\trule: %s\n\twhy: %s", path, imp, r.name, r.reason)
				}
			}
		}
	}
}

// TestGuestsStayLean looks at everything a guest links, not only at what it names.
func TestGuestsStayLean(t *testing.T) {
	out := golist(t, "-deps", "-f", "{{.ImportPath}}", "./plugins/detectors/...", "./sdk")
	for line := range strings.Lines(out) {
		imp := strings.TrimSpace(line)
		if p, ok := own(imp); ok && under("host", "cmd", "policies", "signatures")(p) {
			t.Errorf("a guest links %s: it would carry the host into the sandbox", imp)
		}
		if strings.HasPrefix(imp, "google.golang.org/protobuf") {
			t.Errorf("a guest links %s: reflection-based protobuf doubles a guest's size", imp)
		}
	}
}

type listed struct {
	ImportPath, Name string
	Imports          []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(golist(t, "-json=ImportPath,Name,Imports", "./...")))
	var all []listed
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages: the rules would prove nothing", len(all))
	}
	return all
}

func golist(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = ".."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return string(out)
}
