package policies

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// The setters below return a field that parses one value into dst, with the range it must lie in.

func (r *reader) boolean(dst *bool) field {
	return func(n *yaml.Node, path string) {
		switch s, ok := r.scalar(n, path); {
		case !ok:
		case s == "true":
			*dst = true
		case s == "false":
			*dst = false
		default:
			r.fail(n, path, "expected true or false, found %q", s)
		}
	}
}

// size reads a number of bytes.
func (r *reader) size(dst *int, least, most int64) field {
	return func(n *yaml.Node, path string) {
		s, ok := r.scalar(n, path)
		if !ok {
			return
		}
		v, err := parseSize(s)
		if err != nil {
			r.fail(n, path, "%w", err)
			return
		}
		if v < least || v > most {
			r.fail(n, path, "%s is out of range; use %s to %s", s, formatSize(least), formatSize(most))
			return
		}
		*dst = int(v)
	}
}

// duration reads a time.
func (r *reader) duration(dst *time.Duration, least, most time.Duration) field {
	return func(n *yaml.Node, path string) {
		s, ok := r.scalar(n, path)
		if !ok {
			return
		}
		v, err := time.ParseDuration(s)
		if err != nil {
			r.fail(n, path, "%q is not a time; write a number with a unit, such as 50ms or 2s", s)
			return
		}
		if v < least || v > most {
			r.fail(n, path, "%s is out of range; use %v to %v", s, least, most)
			return
		}
		*dst = v
	}
}

// count reads a whole number.
func (r *reader) count(least, most uint64, set func(uint64)) field {
	return func(n *yaml.Node, path string) {
		s, ok := r.scalar(n, path)
		if !ok {
			return
		}
		v, err := parseCount(s)
		if err != nil {
			r.fail(n, path, "%w", err)
			return
		}
		if v < least || v > most {
			r.fail(n, path, "%s is out of range; use %d to %d", s, least, most)
			return
		}
		set(v)
	}
}

func (r *reader) integer(dst *int, least, most uint64) field {
	return r.count(least, most, func(v uint64) { *dst = int(v) })
}

// fraction reads a number from 0 to 1.
func (r *reader) fraction(set func(v float64, at string)) field {
	return func(n *yaml.Node, path string) {
		s, ok := r.scalar(n, path)
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
			r.fail(n, path, "%q is not a number from 0 to 1", s)
			return
		}
		set(v, r.at(n))
	}
}

// parseSize reads "4MiB", "64 KiB", "512B" or "512".
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "BKMGTiabcdefghjklmnopqrstuvwxyz")
	unit := s[len(digits):]
	scale, ok := map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
	v, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if !ok || err != nil || v < 0 || v > math.MaxInt64/scale {
		return 0, fmt.Errorf("%q is not a size; write a whole number with B, KiB, MiB or GiB, such as 64KiB", s)
	}
	return v * scale, nil
}

func formatSize(v int64) string {
	switch {
	case v >= 1<<30 && v%(1<<30) == 0:
		return strconv.FormatInt(v>>30, 10) + "GiB"
	case v >= 1<<20 && v%(1<<20) == 0:
		return strconv.FormatInt(v>>20, 10) + "MiB"
	case v >= 1<<10 && v%(1<<10) == 0:
		return strconv.FormatInt(v>>10, 10) + "KiB"
	}
	return strconv.FormatInt(v, 10) + "B"
}

// parseCount reads "200", "1_000", "50k", "200M" or "2G", in thousands, not 1,024s.
func parseCount(s string) (uint64, error) {
	digits, scale := s, uint64(1)
	for unit, factor := range map[string]uint64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if d, ok := strings.CutSuffix(s, unit); ok {
			digits, scale = d, factor
		}
	}
	v, err := strconv.ParseUint(strings.ReplaceAll(digits, "_", ""), 10, 64)
	if err != nil || v > math.MaxUint64/scale {
		return 0, fmt.Errorf("%q is not a count; write a whole number, with k, M or G for thousands, millions or thousand millions", s)
	}
	return v * scale, nil
}
