package schema

import "strings"

// Matches reports whether a topic matches a pattern: levels are separated by "/", "*" is one level, a trailing "#" any number.
func Matches(pattern, topic string) bool {
	if topic == "" {
		return false
	}
	want, have := strings.Split(pattern, "/"), strings.Split(topic, "/")
	for i, w := range want {
		if w == "#" && i == len(want)-1 {
			return true
		}
		if i >= len(have) || w != "*" && w != have[i] {
			return false
		}
	}
	return len(want) == len(have)
}
