// Command bench is a guest for measuring the engine, not a detector: what it does depends on the kind of payload it is given.
//
//	doc    decode the payload and answer: the price of a call
//	code   a tight loop over the bytes, rounds times
//	web    regular expressions over the text: what real guests spend their time on
//	email  allocate without end
package main

//lint:file-ignore U1000 sink and heaps are written for the compiler's sake

import (
	"regexp"
	"strconv"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/sdk"
)

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name: "bench", Version: "1.0.0", Summary: "Measures the engine; finds nothing",
			Threats: []v1.Threat{v1.ThreatPromptInjection},
			Limits:  &v1.Limits{Fuel: 1 << 40, WallMillis: 60_000, InputBytes: 16 << 20},
		},
		Detect: detect,
	})
}

// rounds makes the tight loop long enough to measure: the payload's source says how often.
func rounds(p *sdk.Payload) int {
	n, err := strconv.Atoi(string(p.Source))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:previous|prior|above)\s+(?:instructions|rules)\b`),
	regexp.MustCompile(`(?i)https?://[a-z0-9.-]+(?::\d+)?/[^\s"'<>]{0,80}`),
	regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`),
}

// sink and heaps keep results alive, so that the compiler leaves the work in.
var (
	sink  uint32
	heaps []byte
)

func detect(p *sdk.Payload) (*v1.Verdict, error) {
	text := p.Text(0)
	switch p.Kind {
	case v1.PayloadKindCode:
		for range rounds(p) {
			sink += sum(text)
		}
	case v1.PayloadKindWeb:
		for _, re := range patterns {
			sink += uint32(len(re.FindAllIndex(text, -1)))
		}
	case v1.PayloadKindEmail:
		for {
			heaps = append(make([]byte, 0, 64<<10), text...)
		}
	}
	return nil, nil
}

func sum(text []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range text {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

func main() {}
