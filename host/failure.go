package host

import (
	"fmt"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// advice says what an operator can do about a failed detector call, by kind. The error's own text is left out on purpose: it may hold what
// the guest printed, and so the payload.
var advice = map[v1.ErrorKind]string{
	v1.ErrorKindTimeout:     "it ran out of time: raise limits.deadline or the plugin's limits.wall in the policy, or give the machine less to do",
	v1.ErrorKindFuel:        "it used up its fuel: raise the plugin's limits.fuel in the policy",
	v1.ErrorKindTrap:        "it trapped: report it to its author, with the payload if you may",
	v1.ErrorKindLimit:       "a size or memory limit was exceeded: see the plugin's limits in the policy",
	v1.ErrorKindProtocol:    "its answer broke the contract: run amygdala conform on it",
	v1.ErrorKindUnavailable: "",
	v1.ErrorKindCanceled:    "the caller gave up",
}

// failure explains a failed call without a word of the payload.
func failure(e *guest.Entry, err error) string {
	kind := abi.KindOf(err)
	text := advice[kind]
	if e.Plugin == nil {
		text = e.Why
	}
	if text == "" {
		text = "see /api/plugins"
	}
	return fmt.Sprintf("the detector %s failed (%s): %s", e.Name, kind, text)
}
