package guest

import (
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// effective is what one call may use: the lowest of what the plugin asks for (or the contract's default where it does not say), what
// the policy allows and what the host caps. asks may be nil; zero fields of caps are no cap.
func effective(asks *v1.Limits, allows policies.PluginLimits, caps Limits) Limits {
	if asks == nil {
		asks = &v1.Limits{}
	}
	return Limits{
		MemoryPages: lowest(asked(asks.MemoryPages, abi.DefaultMemoryPages), allows.MemoryPages, caps.MemoryPages),
		Fuel:        lowest(asked(asks.Fuel, abi.DefaultFuel), allows.Fuel, caps.Fuel),
		Wall:        lowest(time.Duration(asked(asks.WallMillis, abi.DefaultWallMillis))*time.Millisecond, allows.Wall, caps.Wall),
		Input:       lowest(int(asked(asks.InputBytes, abi.DefaultInputBytes)), allows.Input, caps.Input),
		Output:      lowest(int(asked(asks.OutputBytes, abi.DefaultOutputBytes)), allows.Output, caps.Output),
		Log:         lowest(int(asked(asks.LogBytes, abi.DefaultLogBytes)), allows.Log, caps.Log),
	}
}

// unasked is effective for a module that has not been asked for its manifest yet.
func unasked(allows policies.PluginLimits, caps Limits) Limits {
	return Limits{
		MemoryPages: lowest(allows.MemoryPages, caps.MemoryPages),
		Fuel:        lowest(allows.Fuel, caps.Fuel),
		Wall:        lowest(allows.Wall, caps.Wall),
		Input:       lowest(allows.Input, caps.Input),
		Output:      lowest(allows.Output, caps.Output),
		Log:         lowest(allows.Log, caps.Log),
	}
}

type number interface {
	~int | ~int64 | ~uint32 | ~uint64
}

func asked[T number](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// lowest is the smallest of the values that are set.
func lowest[T number](values ...T) T {
	var low T
	for _, v := range values {
		if v > 0 && (low == 0 || v < low) {
			low = v
		}
	}
	return low
}

// narrowed is what a call gets that asks for less: zero fields of by keep l's.
func (l Limits) narrowed(by Limits) Limits {
	return Limits{
		MemoryPages: lowest(l.MemoryPages, by.MemoryPages),
		Fuel:        lowest(l.Fuel, by.Fuel),
		Wall:        lowest(l.Wall, by.Wall),
		Input:       lowest(l.Input, by.Input),
		Output:      lowest(l.Output, by.Output),
		Log:         lowest(l.Log, by.Log),
	}
}
