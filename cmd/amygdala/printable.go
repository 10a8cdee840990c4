package main

import (
	"fmt"
	"strings"
	"unicode"
)

// printable makes a name that somebody else chose fit to stand on a line of a terminal: control characters, line breaks and characters that
// turn the direction of writing are shown as escapes. Another name could look like a verdict, or hide one.
func printable(s string) string {
	return escapeIf(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// printableText is printable for texts of several lines, such as errors that quote a tool or a guest.
func printableText(s string) string {
	return escapeIf(s, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) })
}

func escapeIf(s string, bad func(rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && s[i] != "\ufffd"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !bad(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
