package host

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/view"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

// Inspect judges one payload. The whole flow is this function:
//
//	size gate -> views (bounded decodings, once for all) -> signatures (once for all) -> the detectors this payload wakes, in parallel ->
//	combine -> the policy's bands
//
// A payload that cannot be judged is held, which is a Decision and not an error. Errors are *abi.Error of kind canceled (ctx ended) or
// unavailable (the host is closed).
func (h *Host) Inspect(ctx context.Context, p Payload) (*Decision, error) {
	start := time.Now()
	set, err := h.acquire()
	if err != nil {
		return nil, err
	}
	defer set.Release()
	if p.Kind == v1.PayloadKindUnspecified {
		p.Kind = v1.PayloadKindDoc
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, set.Policy.Deadline(len(p.Data)))
	defer cancel()
	d := h.judge(ctx, set, p)
	if err := caller.Err(); err != nil {
		return nil, abi.E("inspect", v1.ErrorKindCanceled, p.ID, err)
	}
	d.Elapsed = time.Since(start)
	h.metrics.observe(p.Kind, d)
	return d, nil
}

// judge runs the steps.
func (h *Host) judge(ctx context.Context, set *guest.Set, p Payload) *Decision {
	in := inspection{set: set, payload: p, decision: &Decision{ID: p.ID, Findings: []Finding{}, Generation: set.Number}}
	if in.gate() {
		in.read()
		in.match(ctx)
		in.detect(ctx)
		in.views.Release()
	}
	return in.finish()
}

// inspection is one payload on its way through. It is used by one goroutine but for calls.
type inspection struct {
	set      *guest.Set
	payload  Payload
	views    *view.Set
	hits     []hit
	facts    guest.Facts
	short    bool // a cap cut hits or views
	decision *Decision
}

// hold records why the payload could not be judged.
func (in *inspection) hold(format string, args ...any) {
	in.decision.Held = append(in.decision.Held, fmt.Sprintf(format, args...))
}

// gate refuses what is too large or too strange to look at, and notes what is missing to judge anything.
func (in *inspection) gate() bool {
	if !in.payload.Kind.Known() {
		in.hold("the payload's kind %d is none that this version knows", in.payload.Kind)
		return false
	}
	if most := in.set.Policy.Limits.PayloadBytes; len(in.payload.Data) > most {
		in.hold("the payload has more than %d bytes, the most that is looked at; raise limits.payload in the policy or split it", most)
		return false
	}
	for _, e := range in.set.Entries {
		if e.Plugin == nil && e.Required {
			in.hold("the required detector %s is not running: %s", e.Name, e.Why)
		}
	}
	return true
}

// read makes the views.
func (in *inspection) read() {
	in.facts = guest.Facts{Kind: in.payload.Kind, Topic: strings.ToValidUTF8(in.payload.Topic, "\ufffd"), Size: len(in.payload.Data)}
	l, binary := in.set.Policy.Limits.Views, in.declared()
	in.views = view.Of(in.payload.Data, in.payload.Kind, view.Limits{Depth: l.Depth, Views: l.Count, Bytes: l.Bytes(len(in.payload.Data)), Binary: binary})
	for i := range in.views.Views {
		in.facts.Views = append(in.facts.Views, in.views.Views[i].Name)
	}
	if in.views.Undecodable && !binary {
		in.hold("the payload is binary, and no reading of it is text; decode it before it is inspected, or declare the schema of its topic")
	}
	if in.views.Truncated {
		in.short = true
		in.hold("the payload hides more decodings than the policy allows (limits.views): some of it was not looked at")
	}
}

// declared reports whether a detector that takes the payload byte for byte judges this topic: then binary is what the topic is for, and the
// text in it is read all the same. If that detector fails, the payload holds like any other.
func (in *inspection) declared() bool {
	return slices.ContainsFunc(in.set.Entries, func(e *guest.Entry) bool { return e.Expects(in.facts.Topic) })
}

// match runs the signatures over every view. Shadow signatures are noted and change nothing.
func (in *inspection) match(ctx context.Context) {
	budget := signatures.BudgetOf(in.set.Policy.Limits.MatchBudget(len(in.payload.Data)))
	q := signatures.Query{Kind: in.payload.Kind, Budget: budget, Ctx: ctx}
	var found []signatures.Hit
	for i := range in.views.Views {
		var err error
		found, err = in.set.Matcher.Match(found[:0], in.views.Views[i].Text, q)
		if err != nil {
			in.hold("signatures: %v", err)
			break
		}
		for _, f := range found {
			in.keep(i, f)
		}
		if budget.Truncated() {
			in.overflow(found)
		}
	}
	in.cap()
}

// counts reports whether a signature's hits are evidence, or are only noted.
func (in *inspection) counts(s *signatures.Signature) (evidence, noted bool) {
	switch mode := in.set.Policy.Signature(s.ID); {
	case mode == policies.SignatureOff:
		return false, false
	case mode == policies.SignatureShadow || mode == policies.SignatureAsIs && s.Maturity == signatures.Shadow:
		return false, true
	}
	return true, false
}

func (in *inspection) keep(view int, f signatures.Hit) {
	s := f.Sig
	evidence, noted := in.counts(s)
	if noted && !slices.Contains(in.decision.Shadow, s.ID) {
		in.decision.Shadow = append(in.decision.Shadow, s.ID)
	}
	if !evidence {
		return
	}
	in.facts.Threats.Add(s.Threat)
	in.hits = append(in.hits, hit{view: view, start: f.Start, end: f.End,
		wire: v1.Hit{Signature: s.ID, Threat: s.Threat, Severity: s.Severity, Confidence: float32(s.Confidence), Tags: s.Tags}})
}

// overflow holds a payload in which a signature that counts matched more often than hits are reported: detectors judge what was hit, and a
// text that quotes an attack often enough would hide a real one behind the quotes.
func (in *inspection) overflow(found []signatures.Hit) {
	n := map[*signatures.Signature]int{}
	for _, f := range found {
		if n[f.Sig]++; n[f.Sig] == signatures.MaxHits {
			if evidence, _ := in.counts(f.Sig); evidence {
				in.short = true
				in.hold("the signature %s matches more than %d times, and the rest was not judged: split the payload", f.Sig.ID, signatures.MaxHits)
			}
		}
	}
}

// cap keeps the most telling hits, in order, when there are more than the policy lets through. That holds the payload, for the reason that
// overflow gives; what is kept may still prove a threat.
func (in *inspection) cap() {
	most := in.set.Policy.Limits.Hits
	if len(in.hits) <= most {
		return
	}
	in.short = true
	in.hold("signatures match in %d places and the policy keeps %d (limits.signatures.hits): the rest was not judged", len(in.hits), most)
	sort.SliceStable(in.hits, func(a, b int) bool { return in.hits[a].wire.Confidence > in.hits[b].wire.Confidence })
	in.hits = in.hits[:most]
	sort.SliceStable(in.hits, func(a, b int) bool {
		x, y := in.hits[a], in.hits[b]
		return x.view < y.view || x.view == y.view && x.start < y.start
	})
}

// asked is one detector's part of an inspection.
type asked struct {
	entry    *guest.Entry
	request  *request
	findings []Finding
	fuel     uint64
	err      error
}

// detect asks every detector that this payload wakes. Two and more run in parallel.
func (in *inspection) detect(ctx context.Context) {
	var calls []*asked
	var full, cut *request
	for _, e := range in.set.Entries {
		if !e.Wakes(&in.facts) {
			continue
		}
		r, cuts := &full, in.cuts(e)
		if cuts {
			r = &cut
		}
		if *r == nil {
			*r = in.request(cuts)
		}
		calls = append(calls, &asked{entry: e, request: *r})
		in.decision.Called = append(in.decision.Called, e.Name)
	}
	var wg sync.WaitGroup
	for _, c := range calls[min(1, len(calls)):] {
		wg.Go(func() { in.ask(ctx, c) })
	}
	if len(calls) > 0 {
		in.ask(ctx, calls[0])
	}
	wg.Wait()
	for _, c := range calls {
		in.decision.Fuel += c.fuel
		in.decision.Findings = append(in.decision.Findings, c.findings...)
		if c.err != nil {
			in.hold("%s", failure(c.entry, c.err))
		}
	}
}

// cuts reports whether a detector gets windows around the hits. One that wakes for this kind of payload judges more than what a signature
// saw, and gets all of it: a tool call cut in pieces is no tool call.
func (in *inspection) cuts(e *guest.Entry) bool {
	if !e.Excerpts() {
		return false
	}
	wake := e.Plugin.Manifest().Wake
	return wake == nil || !slices.Contains(wake.Kinds, in.payload.Kind)
}

func (in *inspection) request(cut bool) *request {
	r := whole
	if cut {
		r = excerpts
	}
	q := r(in.views, in.hits)
	q.body.Kind, q.body.Source, q.body.Topic = in.payload.Kind, []byte(in.payload.Source), in.facts.Topic
	q.body.Size, q.body.Truncated = uint64(len(in.payload.Data)), in.short
	return q
}

func (in *inspection) ask(ctx context.Context, c *asked) {
	body := c.request.body // a copy: detectors share the views, and one may get the original beside them
	if c.entry.Plugin != nil && c.entry.Plugin.Manifest().Original {
		body.Original = in.payload.Data
	}
	verdict, cost, err := c.entry.Detect(ctx, &body, callOptions(in.payload.Data))
	c.fuel, c.err = cost.Fuel, err
	if err != nil {
		return
	}
	for _, f := range verdict.Findings {
		name, start, end := c.request.origin(in.views, f)
		c.findings = append(c.findings, Finding{Threat: f.Threat, Severity: f.Severity, ThreatName: f.Threat.String(), Detector: c.entry.Name,
			Signature: clean(f.Signature), View: name, Start: start, End: end, Confidence: round(float64(f.Confidence)), SeverityName: f.Severity.String(), Reason: clean(f.Reason)})
	}
}

// round drops the noise that a 32-bit fraction brings into a 64-bit one.
func round(x float64) float64 { return float64(int(x*1e4+0.5)) / 1e4 }

// clean keeps a guest's sentence on one line and free of control characters: it ends up in terminals and logs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
}

// finish turns findings and failures into a verdict.
func (in *inspection) finish() *Decision {
	d := in.decision
	d.Findings = distinct(d.Findings)
	d.Score = score(d.Findings)
	held := len(d.Held) > 0
	d.Verdict = verdictOf(in.set.Policy, in.payload.Kind, d.Findings, held)
	if d.Verdict == Hold && in.set.Policy.Failure(in.payload.Kind) == policies.FailureFlag {
		d.Verdict = Ambiguous
	}
	return d
}

// distinct sorts findings by confidence and drops those that say again, less surely, what another finding of the same detector says of the
// same bytes: what an HTML comment hides is also in the page's text, and base64 in a comment is in the comment. Among equals the deepest
// view stays, since it tells most.
func distinct(findings []Finding) []Finding {
	sort.SliceStable(findings, func(a, b int) bool {
		x, y := findings[a], findings[b]
		if x.Confidence != y.Confidence {
			return x.Confidence > y.Confidence
		}
		return depth(x.View) > depth(y.View)
	})
	kept := findings[:0]
	for _, f := range findings {
		if !slices.ContainsFunc(kept, func(k Finding) bool { return covers(k, f) }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// depth orders views: the payload's own text is the shallowest.
func depth(name string) int {
	if name == "text" {
		return 0
	}
	return 1 + strings.Count(name, ">")
}

// covers reports whether k says what f says: the same accusation by the same detector of the same place, read in another view.
func covers(k, f Finding) bool {
	return k.Detector == f.Detector && k.Threat == f.Threat && k.View != f.View && k.Start < f.End && f.Start < k.End
}
