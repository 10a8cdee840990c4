// Command guest is what the tests of package meter run as a real Go module: the tightest loop, calls, a regexp-heavy job, and traps.
package main

import (
	"regexp"
	"strings"
)

func main() {}

var text = []byte(strings.Repeat("The quick brown fox <b>jumps</b> over user@example.org and 192.168.0.1. ", 60))

//go:wasmexport sum
func sum(rounds int32) int32 {
	total := int32(0)
	for range rounds {
		for _, c := range text {
			total += int32(c)
		}
	}
	return total
}

//go:noinline
func fib(n int32) int32 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:wasmexport calls
func calls(n int32) int32 { return fib(n) }

var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b[a-z0-9._]+@[a-z0-9.]+\.[a-z]{2,}\b`),
	regexp.MustCompile(`\b(\d{1,3}\.){3}\d{1,3}\b`),
	regexp.MustCompile(`<(\w+)>[^<]*</\w+>`),
}

//go:wasmexport match
func match(rounds int32) int32 {
	found := 0
	for range rounds {
		for _, p := range patterns {
			found += len(p.FindAllIndex(text, -1))
		}
	}
	return int32(found)
}

//go:noinline
func boom(p *int32) int32 { return *p }

//go:wasmexport crash
func crash() int32 { return boom(nil) }

//go:wasmexport copies
func copies(rounds int32) int32 {
	var total int32
	for i := range rounds {
		b := append([]byte(nil), text...)
		total += int32(b[int(i)%len(b)])
	}
	return total
}
