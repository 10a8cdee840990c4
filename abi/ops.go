package abi

import v1 "github.com/amygdala-host/amygdala/abi/v1"

// OpSpec says how one op is asked and answered.
type OpSpec struct {
	Op v1.Op
	// Plugin is the kind that implements it; PluginKindUnspecified means every plugin.
	Plugin v1.PluginKind
	// Request is the field number in Request.body, Response the one in Response.body of the answer that is not an error.
	Request, Response int
	// Required ops must be implemented by every plugin of the kind.
	Required bool
	// Leased ops keep their instance, and with it the guest's memory, from call to call until the stream has ended.
	Leased bool
}

// Ops returns every op, by number.
func Ops() []OpSpec {
	const every, detector, provider, strategy = v1.PluginKindUnspecified, v1.PluginKindDetector, v1.PluginKindProvider, v1.PluginKindStrategy
	return []OpSpec{
		{Op: v1.OpDescribe, Plugin: every, Request: 3, Response: 2, Required: true},
		{Op: v1.OpConfigure, Plugin: every, Request: 4, Response: 3, Required: true},
		{Op: v1.OpDetect, Plugin: detector, Request: 5, Response: 4, Required: true},
		{Op: v1.OpJudge, Plugin: detector, Request: 6, Response: 4},
		{Op: v1.OpRequest, Plugin: provider, Request: 7, Response: 5, Required: true},
		{Op: v1.OpResponse, Plugin: provider, Request: 8, Response: 6, Required: true},
		{Op: v1.OpStream, Plugin: provider, Request: 9, Response: 7, Leased: true},
		{Op: v1.OpModels, Plugin: provider, Request: 10, Response: 8},
		{Op: v1.OpHealth, Plugin: provider, Request: 11, Response: 9},
		{Op: v1.OpAuth, Plugin: provider, Request: 12, Response: 10},
		{Op: v1.OpStep, Plugin: strategy, Request: 13, Response: 11, Required: true},
	}
}

// SpecOf returns the spec of op; false if there is no such op.
func SpecOf(op v1.Op) (OpSpec, bool) {
	for _, s := range Ops() {
		if s.Op == op {
			return s, true
		}
	}
	return OpSpec{}, false
}
