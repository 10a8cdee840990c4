package structure

import (
	"encoding/base64"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// redirectKeys are parameters by which a site sends its visitor, or itself, elsewhere.
var redirectKeys = toolcall.SetOf(`url uri u target to dest destination redirect redirecturl redirecturi redir r goto go next link continue return returnurl returnto src source image img proxy fetch load feed host
	path file page site domain view content out data reference callback callbackurl open window domainname remote imageurl fileurl forward location rurl dl download html pdf`)

// loginKeys are parameters where a sign-in returns to an application that runs on the user's own machine. Source: RFC 8252, section 7.3.
var loginKeys = toolcall.SetOf(`redirecturi callback callbackurl returnurl returnto next continue redirecturl redirect`)

// Scores of an inside URL that travels in another one. Whoever serves the outer URL decides what becomes of it.
const (
	scoreForwardCloud = 0.85 // metadata or a disguised spelling: nobody passes that by accident
	scoreForward      = 0.8
	scoreForwardLoop  = 0.6
	scoreLogin        = 0.3
	scorePathForward  = 0.55
	maxPairs          = 100
)

// redirected judges the URLs inside a URL: in parameters of the query and the fragment, and in the path.
func redirected(u *weburl.URL) weburl.Target {
	best := weburl.Target{}
	for _, part := range []string{u.Query, u.Fragment} {
		for _, pair := range pairs(part) {
			if t := forwarded(pair[0], pair[1]); t.Score > best.Score {
				best = t
			}
		}
	}
	if i := strings.Index(u.Path, "http"); i > 0 {
		if t := inner(weburl.Unescape(u.Path[i:])); t.Score > 0 {
			score := float32(scorePathForward)
			if t.Metadata || t.Odd {
				score = scoreForward
			}
			best = louder(best, weburl.Target{Score: score, Metadata: t.Metadata, Why: t.Why + ", passed on in the path"})
		}
	}
	return best
}

func louder(a, b weburl.Target) weburl.Target {
	if b.Score > a.Score {
		return b
	}
	return a
}

// pairs splits name=value&name=value.
func pairs(s string) [][2]string {
	var out [][2]string
	for s != "" && len(out) < maxPairs {
		var item string
		i := strings.IndexAny(s, "&;")
		if i < 0 {
			i = len(s)
		}
		item, s = s[:i], s[min(i+1, len(s)):]
		name, value, _ := strings.Cut(item, "=")
		if value != "" {
			out = append(out, [2]string{weburl.Unescape(name), value})
		}
	}
	return out
}

// forwarded judges one parameter.
func forwarded(name, value string) weburl.Target {
	t := inner(value)
	if t.Score == 0 || t.Single && !t.Metadata {
		return weburl.Target{}
	}
	key := toolcall.PlainName(name)
	loop := strings.Contains(t.Why, "local machine") || strings.Contains(t.Why, "loopback")
	score := float32(scoreForward)
	switch {
	case t.Metadata, t.Odd:
		score = scoreForwardCloud
	case loop && loginKeys[key]:
		score = scoreLogin
	case loop, !redirectKeys[key]:
		score = scoreForwardLoop
	}
	return weburl.Target{Score: score, Metadata: t.Metadata, Why: t.Why + ", passed on in a parameter"}
}

// inner reads a parameter's value as a URL: plain, percent-encoded up to three times, or base64.
func inner(value string) weburl.Target {
	for range 3 {
		if hasURLHead(value) {
			var u weburl.URL
			if t, ok := weburl.Reach(value, &u); ok || riskOf(&u).score > 0 {
				if r := riskOf(&u); r.score > t.Score && !t.Inside() {
					return weburl.Target{Score: r.score, Metadata: r.local, Odd: true, Why: r.why}
				}
				return t
			}
		}
		if strings.HasPrefix(value, "//") || strings.HasPrefix(value, `\\`) {
			return weburl.ReachHost(value)
		}
		next := weburl.Unescape(value)
		if next == value {
			break
		}
		value = next
	}
	if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "=")); err == nil && hasURLHead(string(raw)) {
		var u weburl.URL
		t, _ := weburl.Reach(string(raw), &u)
		return t
	}
	return weburl.Target{}
}

// hasURLHead reports text that starts like a URL.
func hasURLHead(s string) bool {
	colon := strings.IndexByte(s, ':')
	return colon > 1 && colon < 24 && (strings.HasPrefix(s[colon:], "://") || strings.HasPrefix(s[colon:], `:\\`) || strings.HasPrefix(s[colon:], ":/"))
}
