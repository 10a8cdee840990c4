package guest

import (
	"slices"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Facts are what is known of a payload before any detector is asked.
type Facts struct {
	Kind  v1.PayloadKind
	Topic string
	// Size of the original payload in bytes.
	Size int
	// Threats of the signature hits.
	Threats ThreatSet
	// Views are the names of the views, chains included ("url>base64").
	Views []string
}

// ThreatSet is a set of threats.
type ThreatSet uint64

// Add puts a threat into the set.
func (s *ThreatSet) Add(t v1.Threat) { *s |= 1 << (uint(t) & 63) }

// Has reports whether t is in the set.
func (s ThreatSet) Has(t v1.Threat) bool { return s>>(uint(t)&63)&1 != 0 }

// wake is the reasons to call a detector, made for quick answers.
type wake struct {
	always   bool
	kinds    uint64
	threats  ThreatSet
	views    []string
	topics   []string
	sizeOver uint64
}

// wakeOf joins the manifest's reasons with those the policy adds. Either may be nil.
func wakeOf(reasons ...*v1.Wake) wake {
	var w wake
	for _, r := range reasons {
		if r == nil {
			continue
		}
		w.always = w.always || r.Always
		for _, k := range r.Kinds {
			w.kinds |= 1 << (uint(k) & 63)
		}
		for _, t := range r.Threats {
			w.threats.Add(t)
		}
		w.views = append(w.views, r.Views...)
		w.topics = append(w.topics, r.Topics...)
		w.sizeOver = lowest(w.sizeOver, r.SizeOver)
	}
	return w
}

// on reports whether any reason holds. It does not allocate.
func (w *wake) on(f *Facts) bool {
	switch {
	case w.always,
		w.kinds>>(uint(f.Kind)&63)&1 != 0,
		w.threats&f.Threats != 0,
		w.sizeOver > 0 && uint64(f.Size) > w.sizeOver:
		return true
	}
	if w.onTopic(f.Topic) {
		return true
	}
	for _, name := range w.views {
		for _, chain := range f.Views {
			if chainHas(chain, name) {
				return true
			}
		}
	}
	return false
}

// onTopic reports whether a reason names this topic.
func (w *wake) onTopic(topic string) bool {
	return slices.ContainsFunc(w.topics, func(pattern string) bool { return topicMatches(pattern, topic) })
}

// chainHas reports whether a chain of decodings, joined by ">", holds a decoding of this name.
func chainHas(chain, name string) bool {
	for chain != "" {
		var link string
		if link, chain, _ = strings.Cut(chain, ">"); link == name {
			return true
		}
	}
	return false
}

// topicMatches holds a topic against a pattern: levels separated by "/", "*" is one level, "#" at the end is any number of levels, none
// included. An empty topic matches nothing.
func topicMatches(pattern, topic string) bool {
	if topic == "" {
		return false
	}
	more := true
	for pattern != "" {
		var want, level string
		var wantMore bool
		want, pattern, wantMore = strings.Cut(pattern, "/")
		if want == "#" && !wantMore {
			return true
		}
		if !more {
			return false
		}
		level, topic, more = strings.Cut(topic, "/")
		if want != "*" && want != level {
			return false
		}
	}
	return !more
}
