package schema

import (
	"math"
	"strconv"
	"strings"
)

// number is a JSON number: exact when it is whole and fits 64 bits, a float otherwise.
type number struct {
	float float64
	whole bool // int holds it exactly
	int   int64
}

// parseNumber reads the literal of a number. NaN and the infinities are none.
func parseNumber(s string) (number, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{float: float64(i), whole: true, int: i}, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if math.IsNaN(f) || math.IsInf(f, 0) && err == nil {
		return number{}, false
	}
	n := number{float: f}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		n.whole, n.int = true, int64(f)
	}
	return n, true
}

// integer reports a number without a fraction.
func (n number) integer() bool {
	return n.whole || n.float == math.Trunc(n.float) && !math.IsInf(n.float, 0)
}

// less compares exactly where both are whole.
func (n number) less(o number) bool {
	if n.whole && o.whole {
		return n.int < o.int
	}
	return n.float < o.float
}

// multipleOf reports whether n is a whole multiple of o, within the accuracy of a float.
func (n number) multipleOf(o number) bool {
	if n.whole && o.whole {
		return n.int%o.int == 0
	}
	q := n.float / o.float
	return !math.IsInf(q, 0) && math.Abs(q-math.Round(q)) <= 1e-9*math.Max(1, math.Abs(q))
}

// text is the canonical form of a number: equal numbers have equal forms.
func (n number) text() string {
	if n.whole {
		return strconv.FormatInt(n.int, 10)
	}
	return strings.ToLower(strconv.FormatFloat(n.float, 'g', -1, 64))
}
