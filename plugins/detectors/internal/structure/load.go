package structure

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// carrier is how a URL comes to be fetched.
type carrier uint8

const (
	// carrierRequest is a request that the assistant itself makes.
	carrierRequest carrier = iota
	// carrierAuto is fetched by whatever displays the text: images, frames, style sheets.
	carrierAuto
	// carrierLink is fetched when somebody clicks, or a chat program makes a preview.
	carrierLink
)

// load is what a URL carries away.
type load struct {
	score float32
	why   string
	// cred is the score of a credential that is part of it.
	cred float32
}

func (l load) or(o load) load {
	if o.score > l.score {
		return o
	}
	return l
}

// drawers are public services that draw the text they are given, or forward an address that they are given. Text that is nothing but a
// label or a diagram says nothing there.
var drawers = weburl.Domains(
	"shields.io", "badgen.net", "badge.fury.io", "forthebadge.com", "readme-typing-svg.herokuapp.com", "readme-typing-svg.demolab.com",
	"custom-icon-badges.demolab.com", "custom-icon-badges.herokuapp.com", "streak-stats.demolab.com",
	"github-readme-streak-stats.herokuapp.com", "github-readme-stats.vercel.app", "github-profile-trophy.vercel.app", "capsule-render.vercel.app",
	"og-image.vercel.app", "dcbadge.vercel.app", "quickchart.io", "image-charts.com",
	"chart.googleapis.com", "codecogs.com", "mermaid.ink", "kroki.io", "plantuml.com", "qrserver.com", "githubusercontent.com", "carbon.now.sh",
	"weserv.nl", "wsrv.nl", "cloudinary.com", "placehold.co", "placeholder.com",
	"dummyimage.com", "dicebear.com", "ui-avatars.com", "gravatar.com", "star-history.com", "contrib.rocks", "skillicons.dev", "wikimedia.org", "wp.com",
	"openstreetmap.org", "mapbox.com", "imgix.net", "unsplash.com", "deepwiki.com",
	"cursor.com", "komarev.com", "swagger.io", "codesandbox.io", "stackblitz.com", "typescriptlang.org", "socialify.git.ci")

// displayKeys are parameters that hold text to be shown; signKeys hold signatures and campaigns, which only look like data.
var (
	displayKeys = toolcall.SetOf(`alt title label labels message caption desc description text logo font theme lines line style color subtitle heading names repo tex latex formula`)
	signKeys    = toolcall.SetOf(`policy signature sig sign hmac hash md5 sha sha256 etag integrity keypairid expires xamzsignature xamzcredential xamzsecuritytoken xamzdate xamzalgorithm xamzsignedheaders xgoogsignature xgoogcredential
		skoid utmsource utmmedium utmcampaign utmcontent utmterm gclid fbclid codechallenge`)
	accessKeys = toolcall.SetOf(`jwt token accesstoken auth hdnts sig signature`)
)

// loadOf judges what fetching u would carry to its host.
func (j *judgement) loadOf(u *weburl.URL, how carrier) load {
	if !u.Authority || u.Target().Inside() {
		return load{}
	}
	h := weburl.ParseHost(u.Host)
	if h.Kind == weburl.HostNone || j.cfg.own(h.Name) {
		return load{}
	}
	ctx := loadContext{how: how, drawn: drawers.Of(h.Name) != ""}
	best := load{}
	if h.Kind == weburl.HostName && len(u.Host) >= minLabels {
		best = ctx.labels(u.Host)
	}
	for _, p := range pairs(u.Query) {
		best = best.or(ctx.pair(p[0], p[1]))
	}
	if u.Query != "" && !strings.Contains(u.Query, "=") {
		best = best.or(ctx.value("", u.Query))
	}
	for rest := u.Path; rest != ""; {
		var seg string
		if seg, rest, _ = strings.Cut(rest, "/"); len(seg) >= minSegment {
			best = best.or(ctx.segment(seg))
		}
	}
	if u.User != "" {
		best = best.or(ctx.encoded(u.User))
	}
	return best
}

// loadContext is what the parts of one URL have in common.
type loadContext struct {
	how   carrier
	drawn bool
}

func (c loadContext) pair(name, value string) load {
	key := toolcall.PlainName(name)
	switch {
	case keyIDs[key]:
		return load{}
	case !signKeys[key]:
		return c.value(key, value)
	}
	if at, g := secret.Find(weburl.Unescape(value)); at >= 0 {
		return c.credential(g)
	}
	return load{}
}

// minLabels and minSegment are the least that a host and a part of a path must have to carry something.
const (
	minLabels  = 18
	minSegment = 14
)

// minLoad is the least that a parameter must hold to say anything.
const minLoad = 8

// value judges one parameter: a credential, an encoded text, or plain text.
func (c loadContext) value(key, raw string) load {
	if len(raw) < minLoad {
		return load{}
	}
	v := weburl.Unescape(weburl.Unescape(raw))
	if at, g := secret.Find(v); at >= 0 {
		if strings.HasPrefix(v[at:], "eyJ") && accessKeys[key] && c.how != carrierRequest {
			return load{} // the key to the picture itself
		}
		return c.credential(g)
	}
	if l := c.encoded(v); l.score > 0 {
		return l
	}
	return c.plain(key, strings.ReplaceAll(v, "+", " "))
}

func (c loadContext) credential(g secret.Grade) load {
	score := float32(0.92)
	if g.Published {
		score = publishedOutside
	}
	return load{score, "a credential inside a URL", score}
}

// segment judges one part of a path. A file name may be a sentence; only what is encoded or sensitive counts.
func (c loadContext) segment(raw string) load {
	v := weburl.Unescape(weburl.Unescape(raw))
	if at, g := secret.Find(v); at >= 0 {
		return c.credential(g)
	}
	if i := strings.LastIndexByte(v, '.'); i > 0 && len(v)-i <= 6 {
		v = v[:i]
	}
	if l := c.encoded(v); l.score > 0 {
		return l
	}
	if c.how == carrierAuto && !c.drawn && prose(v) && sensitive(v) {
		return load{score: 0.82, why: "a sentence about sensitive things inside the address of a picture"}
	}
	return load{}
}

// encoded judges text that was hidden by an encoding.
func (c loadContext) encoded(v string) load {
	text := decodeText(v)
	if text == "" {
		return load{}
	}
	text = weburl.Unescape(text)
	if at, g := secret.Find(text); at >= 0 {
		return c.credential(g)
	}
	if hasURLHead(text) && wordCount(text) == 1 {
		return load{} // image proxies carry the address of the picture
	}
	switch hot := sensitive(text); {
	case hot && markup(text) && c.drawn:
		return load{}
	case c.how == carrierLink && (hot || prose(text)):
		return load{score: 0.83, why: "encoded text inside a link"}
	case hot:
		return load{score: 0.92, why: "encoded sensitive text inside a URL"}
	case c.drawn:
		return load{score: 0.3, why: "encoded text for a service that draws it"}
	case markup(text):
		return load{score: c.pick(0.45, 0.6, 0.3), why: "encoded structure inside a URL"}
	}
	return load{score: c.pick(0.84, 0.88, 0.6), why: "encoded text inside a URL"}
}

// markup reports JSON, XML and diagram sources.
func markup(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "<") || strings.Contains(s, "-->") || strings.HasPrefix(s,
		"graph ") || strings.HasPrefix(s, "@start")
}

// plain judges readable text in a parameter.
func (c loadContext) plain(key, v string) load {
	if !prose(v) && (!strings.ContainsAny(v, "={") || hasURLHead(v)) {
		return load{}
	}
	hot := sensitive(v)
	listed := strings.Count(v, "=") >= 2 || markup(v) || len(numbersIn(v)) > 0
	switch {
	case hot && !c.drawn && (prose(v) || listed) && !displayKeys[key]:
		return load{score: c.pick(0.6, 0.88, 0.6), why: "a sentence about sensitive things inside a URL"}
	case hot && !c.drawn:
		return load{score: c.pick(0.4, 0.7, 0.4), why: "words about sensitive things inside a URL"}
	case c.how == carrierAuto && !c.drawn && !displayKeys[key] && sentence(v):
		return load{score: 0.82, why: "a sentence inside the address of something that is fetched by itself"}
	}
	return load{}
}

// pick chooses by carrier.
func (c loadContext) pick(request, auto, link float32) float32 {
	return [...]float32{request, auto, link}[c.how]
}
