package guest

import (
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func TestWake(t *testing.T) {
	plain := Facts{Kind: v1.PayloadKindWeb, Size: 100, Views: []string{"text"}}
	hit := plain
	hit.Threats.Add(v1.ThreatSSRF)
	decoded := plain
	decoded.Views = []string{"text", "html.comment", "url>base64"}
	topic := plain
	topic.Topic = "tools/shell/out"
	for _, c := range []struct {
		name  string
		wake  *v1.Wake
		facts Facts
		want  bool
	}{
		{"nothing", &v1.Wake{}, plain, false},
		{"always", &v1.Wake{Always: true}, plain, true},
		{"kind", &v1.Wake{Kinds: []v1.PayloadKind{v1.PayloadKindDoc, v1.PayloadKindWeb}}, plain, true},
		{"other kind", &v1.Wake{Kinds: []v1.PayloadKind{v1.PayloadKindDoc}}, plain, false},
		{"threat", &v1.Wake{Threats: []v1.Threat{v1.ThreatSSRF}}, hit, true},
		{"threat, no hit", &v1.Wake{Threats: []v1.Threat{v1.ThreatSSRF}}, plain, false},
		{"other threat", &v1.Wake{Threats: []v1.Threat{v1.ThreatSecret}}, hit, false},
		{"view", &v1.Wake{Views: []string{"html.comment"}}, decoded, true},
		{"view in a chain", &v1.Wake{Views: []string{"base64"}}, decoded, true},
		{"view, outer link", &v1.Wake{Views: []string{"url"}}, decoded, true},
		{"part of a view's name", &v1.Wake{Views: []string{"html"}}, decoded, false},
		{"size", &v1.Wake{SizeOver: 99}, plain, true},
		{"not larger", &v1.Wake{SizeOver: 100}, plain, false},
		{"topic", &v1.Wake{Topics: []string{"tools/*/out"}}, topic, true},
		{"topic, none given", &v1.Wake{Topics: []string{"#"}}, plain, false},
	} {
		w := wakeOf(nil, c.wake)
		if got := w.on(&c.facts); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	w := wakeOf(&v1.Wake{Kinds: []v1.PayloadKind{v1.PayloadKindDoc}, SizeOver: 50}, &v1.Wake{Threats: []v1.Threat{v1.ThreatSSRF}, SizeOver: 500})
	if !w.on(&hit) || !w.on(&plain) || w.sizeOver != 50 {
		t.Error("the policy's reasons do not add to the manifest's")
	}
	if n := testing.AllocsPerRun(100, func() { _ = w.on(&decoded) || w.on(&topic) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTopics(t *testing.T) {
	for _, c := range []struct {
		pattern, topic string
		want           bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"a", "a/b", false}, {"a/b", "a", false}, {"a/b", "a/b", true},
		{"*", "a", true}, {"*", "a/b", false}, {"a/*", "a", false}, {"a/*/c", "a/b/c", true}, {"a/*/c", "a/b/d", false},
		{"#", "a/b/c", true}, {"a/#", "a", true}, {"a/#", "a/b/c", true}, {"a/#", "ab", false}, {"#/a", "b/a", false}, {"", "a", false}, {"#", "", false},
	} {
		if got := topicMatches(c.pattern, c.topic); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.topic, got)
		}
	}
}

// TestExpectsByTopicOnly: waking for everything is no declaration of a topic.
func TestExpectsByTopicOnly(t *testing.T) {
	entry := func(original bool, w *v1.Wake) *Entry {
		return &Entry{Plugin: &Plugin{manifest: &v1.Manifest{Kind: v1.PluginKindDetector, Original: original}}, wake: wakeOf(w)}
	}
	topics := &v1.Wake{Topics: []string{"a/*"}}
	for _, c := range []struct {
		name  string
		entry *Entry
		topic string
		want  bool
	}{
		{"its topic", entry(true, topics), "a/b", true},
		{"another topic", entry(true, topics), "c/d", false},
		{"no topic", entry(true, topics), "", false},
		{"wakes for everything", entry(true, &v1.Wake{Always: true}), "a/b", false},
		{"takes no original", entry(false, topics), "a/b", false},
		{"missing", &Entry{wake: wakeOf(topics)}, "a/b", false},
	} {
		if got := c.entry.Expects(c.topic); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
