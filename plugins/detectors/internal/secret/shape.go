package secret

import "strings"

// shape is what the characters of a value tell about who wrote it.
type shape struct {
	lower, upper, digit, symbol int
	changes                     int // places where the class of character changes
	space, wide                 bool
}

func shapeOf(v string) shape {
	var s shape
	last := byte(0)
	for i := 0; i < len(v); i++ {
		class := s.count(v[i])
		if i > 0 && class != last {
			s.changes++
		}
		last = class
	}
	return s
}

func (s *shape) count(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		s.lower++
		return 'a'
	case c >= 'A' && c <= 'Z':
		s.upper++
		return 'A'
	case c >= '0' && c <= '9':
		s.digit++
		return '0'
	case c <= ' ':
		s.space = true
		return ' '
	case c >= 0x80:
		s.wide = true
		return 'w'
	}
	s.symbol++
	return '!'
}

func (s shape) classes() int {
	n := 0
	for _, c := range [...]int{s.lower, s.upper, s.digit, s.symbol} {
		if c > 0 {
			n++
		}
	}
	return n
}

func (s shape) len() int { return s.lower + s.upper + s.digit + s.symbol }

// random reports a value that looks drawn, not written: its classes change often, and it has digits or symbols among letters.
func (s shape) random() bool {
	return s.digit+s.symbol > 0 && s.lower+s.upper > 0 && s.changes >= 4 && s.changes*10 >= s.len()*3
}

// mixedCase reports capitals and small letters in an order that no convention of writing names gives: at least odd of the capitals
// follow another one at once or with one letter between.
func mixedCase(v string, least int) bool {
	small, odd, caps := 3, 0, 0 // small letters since the last capital
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c >= 'A' && c <= 'Z':
			if small < 2 {
				odd++
			}
			small = 0
			caps++
		case c >= 'a' && c <= 'z':
			small++
		}
	}
	return caps >= 3 && odd >= least && caps < len(v)-2
}

// wordy reports a value of whose letters more than share percent stand in words of four and more, as in names such as testEd25519PrivateKey and IFLA_INET6_TOKEN.
// A word is small letters, perhaps behind one capital; capitals alone make words only where something separates them.
func wordy(v string, share int) bool {
	separated := strings.ContainsAny(v, "_.-")
	letters, inWords := 0, 0
	for i := 0; i < len(v); {
		n := segment(v[i:], separated)
		if n == 0 {
			i++
			continue
		}
		letters += n
		if n >= 4 {
			inWords += n
		}
		i += n
	}
	return inWords*100 > letters*share
}

// segment returns the length of the word that v starts with.
func segment(v string, capitals bool) int {
	n := 0
	if isUpper(v[0]) {
		n = 1
		for capitals && n < len(v) && isUpper(v[n]) {
			n++
		}
		if n > 1 {
			return n
		}
	}
	for n < len(v) && v[n] >= 'a' && v[n] <= 'z' {
		n++
	}
	return n
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// isHex reports a value of hexadecimal digits in one case, as hashes and many keys are.
func isHex(v string) bool {
	lower, upper := true, true
	for i := 0; i < len(v); i++ {
		c := v[i]
		digit := c >= '0' && c <= '9'
		lower = lower && (digit || c >= 'a' && c <= 'f')
		upper = upper && (digit || c >= 'A' && c <= 'F')
	}
	return lower || upper
}

// isUUID reports the 8-4-4-4-12 form.
func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := 0; i < len(v); i++ {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (v[i] == '-') || !dash && !isHex(v[i:i+1]) {
			return false
		}
	}
	return true
}
