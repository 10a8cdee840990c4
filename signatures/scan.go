package signatures

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// scan is the state of matching one text. Scans are kept for reuse; nothing of a text stays in one but positions.
type scan struct {
	m       *Matcher
	text    []byte
	kind    uint32
	meter   meter
	dst     []Hit
	own     Budget
	profile *Profile // per signature, when a profile is taken; else nil

	// latest[g] is base plus the highest begin of a literal of group g so far. base grows from text to text by more than any window, so
	// latest needs no clearing.
	latest    []int64
	base      int64
	queues    []queue // anchors that wait until the text to their right has been read, by window
	commons   []progress
	busy      []uint64 // the queues that are not empty
	due       int      // where the first anchor of the queues has its window end
	spots     []spot   // per signature
	areas     []area
	hit       []int32 // signatures with areas or hits
	pike      pike
	backtrack backtrack
	lanes     lanes
}

// queue is first in, first out.
type queue struct {
	items []waiting
	head  int
}

// waiting is an anchor.
type waiting struct {
	literal    int32
	use        int32 // index into the literal's anchors
	start, end int
}

// spot is what a text has of one signature.
type spot struct {
	last  int32 // index+1 of the rightmost area; 0 is none
	hits  int32
	known bool // listed in hit
}

// area is a part of the text in which the patterns of a signature are searched.
type area struct {
	start, end int
	previous   int32 // index+1 of the area to the left
}

func (m *Matcher) newScratch() *scan {
	latest := make([]int64, m.groups)
	latest[0] = math.MaxInt64 // no group: always near
	return &scan{
		m:       m,
		latest:  latest,
		base:    2 * MaxWindow,
		due:     never,
		commons: make([]progress, m.commons),
		queues:  make([]queue, len(m.windows)),
		busy:    make([]uint64, (len(m.windows)+63)/64),
		spots:   make([]spot, len(m.sigs)),
	}
}

// Match appends the matches in text to dst, sorted by Start. It allocates nothing for a text without hits.
//
// Errors are *abi.Error: limit if the budget was used up, timeout or canceled if the context ended. The text is then not judged, whatever
// was appended.
func (m *Matcher) Match(dst []Hit, text []byte, q Query) ([]Hit, error) {
	return m.match(dst, text, q, nil)
}

func (m *Matcher) match(dst []Hit, text []byte, q Query, profile *Profile) ([]Hit, error) {
	s := m.scratch.Get().(*scan)
	defer s.release()
	s.begin(dst, text, q, profile)
	err := s.read()
	if err == nil {
		err = s.judge()
	}
	s.sort(len(dst))
	return s.dst, err
}

func (s *scan) begin(dst []Hit, text []byte, q Query, profile *Profile) {
	s.dst, s.text, s.profile = dst, text, profile
	s.kind = 1 << (uint32(q.Kind) & 31)
	s.meter = meter{budget: q.Budget, ctx: q.Ctx}
	if q.Budget == nil {
		s.own = *NewBudget(len(text))
		s.meter.budget = &s.own
	}
}

// keepItems is how much a scan may hold on to between texts.
const keepItems = 1 << 14

// release forgets the text and makes the scan ready for the next.
func (s *scan) release() {
	s.base += int64(len(s.text)) + 2*MaxWindow
	for i := range s.queues {
		q := &s.queues[i]
		q.items, q.head = shrink(q.items), 0
	}
	clear(s.busy)
	for _, sig := range s.hit {
		s.spots[sig] = spot{}
	}
	s.hit, s.areas, s.due = s.hit[:0], shrink(s.areas), never
	s.backtrack.jobs = shrink(s.backtrack.jobs)
	s.pike.now, s.pike.pending = shrink(s.pike.now), shrink(s.pike.pending)
	s.dst, s.text, s.profile, s.meter = nil, nil, nil, meter{}
	s.m.scratch.Put(s)
}

func shrink[T any](items []T) []T {
	if cap(items) > keepItems {
		return nil
	}
	return items[:0]
}

// read finds the literals in the text and lets the anchors gather what they need.
func (s *scan) read() error {
	a := s.m.auto
	state, i := ref(0), 0
	for n := laneSize(len(s.text)); n > 0; n = laneSize(len(s.text) - i) {
		if err := s.meter.poll(laneCount * n); err != nil {
			return err
		}
		state = a.block(&s.lanes, s.text, i, n, state)
		i += laneCount * n
		for _, events := range s.lanes.events {
			if err := s.meter.spend(costEvent * len(events)); err != nil {
				return err
			}
			for _, e := range events {
				if err := s.ended(e.index, e.end); err != nil {
					return err
				}
			}
		}
	}
	for ; i < len(s.text); i++ {
		t := a.step(state, s.text[i])
		if state = t.to; t.ends != 0 {
			if err := s.ended(t.ends, i+1); err != nil {
				return err
			}
		}
	}
	return s.settle(never)
}

// ended handles all literals that may end at text[end], given the automaton's index of them.
func (s *scan) ended(index uint32, end int) error {
	if s.due < end {
		if err := s.settle(end); err != nil {
			return err
		}
	}
	e := &s.m.endings[index]
	at := s.base + int64(end)
	s.sight(e.first, at)
	s.sight(e.second, at)
	for _, p := range e.more {
		s.sight(p, at)
	}
	for _, id := range e.others {
		s.literal(id, end)
	}
	return nil
}

// sight notes a literal of a group that ends at the offset at, base included.
func (s *scan) sight(p sighting, at int64) {
	s.latest[p.group] = max(s.latest[p.group], at-int64(p.size))
}

// literal notes one occurrence.
func (s *scan) literal(id int32, end int) {
	l := &s.m.literals[id]
	start, ok := l.begin(s.text, end)
	if !ok {
		return
	}
	for _, g := range l.groups {
		s.latest[g] = max(s.latest[g], s.base+int64(start))
	}
	for i := range l.anchors {
		w := l.anchors[i].window
		q := &s.queues[w]
		q.items = append(q.items, waiting{id, int32(i), start, end})
		s.busy[w>>6] |= 1 << (w & 63)
		s.due = min(s.due, end+s.m.windows[w])
	}
}

// never is beyond any text.
const never = 1 << 62

// settle decides about the anchors whose window ends before text[end]: all literals within have been seen.
func (s *scan) settle(end int) error {
	s.due = never
	for i, busy := range s.busy {
		for ; busy != 0; busy &= busy - 1 {
			if err := s.serve(i*64+bits.TrailingZeros64(busy), end); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve decides about the anchors of one window.
func (s *scan) serve(w, end int) error {
	q, window := &s.queues[w], s.m.windows[w]
	for q.head < len(q.items) && q.items[q.head].end+window < end {
		item := q.items[q.head]
		q.head++
		if err := s.decide(item, window); err != nil {
			return err
		}
	}
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		s.busy[w>>6] &^= 1 << (w & 63)
		return nil
	}
	s.due = min(s.due, q.items[q.head].end+window)
	return nil
}

// decide gives an anchor to those of its signatures that have all their groups within the window.
func (s *scan) decide(a waiting, window int) error {
	from := s.base + int64(a.start-window)
	clients := s.m.literals[a.literal].anchors[a.use].sigs
	for i := range clients {
		c := &clients[i]
		if c.kinds&s.kind == 0 {
			continue
		}
		s.profile.add(c.sig, Cost{Anchors: 1, Work: costAnchor})
		if s.latest[c.first] < from || s.latest[c.second] < from || !s.near(c.more, from) {
			continue
		}
		near, err := s.nearCommon(c, a, window)
		if err == nil && near {
			err = s.candidate(c.sig, a, window)
		}
		if err != nil {
			return err
		}
	}
	return s.meter.spend(len(clients) * costAnchor)
}

// nearCommon looks for the groups that are not noted as they pass.
func (s *scan) nearCommon(c *client, a waiting, window int) (bool, error) {
	from, to := max(0, a.start-window), min(len(s.text), a.end+window)
	for i := range c.common {
		near, cost := s.advance(&c.common[i], from, to)
		s.profile.add(c.sig, Cost{Read: cost, Work: cost})
		if err := s.meter.spend(cost); err != nil || !near {
			return false, err
		}
	}
	return true, nil
}

// progress is how far a common group has been looked for. The fields are offsets plus base.
type progress struct {
	latest      int64 // begin of the last literal that was found
	low, resume int64 // nothing of interest begins between the two
}

// advance reports whether a literal of g lies within text[from:to]. Calls come with ascending ends and almost ascending begins, so that
// hardly anything is read twice.
func (s *scan) advance(g *commonGroup, from, to int) (near bool, cost int) {
	p, at := &s.commons[g.number], s.base+int64(from)
	if p.latest >= at {
		return true, 1
	}
	if at < p.low || at > p.resume {
		p.low, p.resume = at, at
	}
	begin, ends, cost := g.next(s.text, int(p.resume-s.base), to)
	p.resume = max(p.resume, s.base+int64(begin))
	if ends {
		p.latest = s.base + int64(begin)
	}
	return ends, cost + 1
}

func (s *scan) near(groups []int32, from int64) bool {
	for _, g := range groups {
		if s.latest[g] < from {
			return false
		}
	}
	return true
}

// candidate reports the anchor, or notes the range around it for the patterns.
func (s *scan) candidate(sig int32, a waiting, window int) error {
	c, p := s.m.sigs[sig], &s.spots[sig]
	if !p.known {
		p.known = true
		s.hit = append(s.hit, sig)
	}
	s.profile.add(sig, Cost{Candidates: 1})
	if len(c.patterns) == 0 {
		return s.report(sig, c, a.start, a.end)
	}
	s.addArea(p, area{start: runeStart(s.text, a.start-window), end: runeEnd(s.text, a.end+window)})
	return nil
}

// addArea joins the new area with those it touches; they come in the order of their ends.
func (s *scan) addArea(p *spot, n area) {
	free := int32(0)
	for p.last > 0 && n.start <= s.areas[p.last-1].end {
		old := s.areas[p.last-1]
		n.start, n.end = min(n.start, old.start), max(n.end, old.end)
		free, p.last = p.last, old.previous
	}
	n.previous = p.last
	if free == 0 {
		s.areas = append(s.areas, n)
		free = int32(len(s.areas))
	}
	s.areas[free-1] = n
	p.last = free
}

// leftmost turns the list of areas of a signature round, and returns its new head.
func (s *scan) leftmost(p *spot) int32 {
	head := int32(0)
	for at := p.last; at > 0; {
		next := s.areas[at-1].previous
		s.areas[at-1].previous = head
		head, at = at, next
	}
	return head
}

// runeStart and runeEnd move an offset out of a rune, to its begin or end.
func runeStart(text []byte, i int) int {
	i = max(i, 0)
	for k := 1; k < utf8.UTFMax && i > 0 && i < len(text) && !utf8.RuneStart(text[i]); k++ {
		i--
	}
	return i
}

func runeEnd(text []byte, i int) int {
	for k := 1; k < utf8.UTFMax && i < len(text) && !utf8.RuneStart(text[i]); k++ {
		i++
	}
	return min(i, len(text))
}

// judge searches the patterns in the areas.
func (s *scan) judge() error {
	for _, sig := range s.hit {
		c := s.m.sigs[sig]
		for at := s.leftmost(&s.spots[sig]); at > 0; at = s.areas[at-1].previous {
			for _, p := range c.patterns {
				if err := s.search(sig, c, p, s.areas[at-1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// search reports the matches of p in an area.
func (s *scan) search(sig int32, c *compiled, p *pattern, a area) error {
	for i := a.start; i <= a.end; {
		begin, end, err := p.next(s, sig, i, a.end)
		if err != nil || begin < 0 {
			return err
		}
		if begin == end { // only a pattern that lint refuses matches nothing
			i = end + runeSize(s.text, end)
			continue
		}
		if s.spots[sig].hits >= MaxHits {
			s.meter.budget.capped = true
			return nil
		}
		if err := s.report(sig, c, begin, end); err != nil {
			return err
		}
		i = end
	}
	return nil
}

// report adds a hit unless it is excluded or one too many.
func (s *scan) report(sig int32, c *compiled, begin, end int) error {
	if err := s.meter.spend(costHit); err != nil {
		return err
	}
	p := &s.spots[sig]
	if p.hits >= MaxHits {
		s.meter.budget.capped = true
		return nil
	}
	if out, err := s.excluded(sig, c, begin, end); err != nil || out {
		return err
	}
	p.hits++
	s.profile.add(sig, Cost{Hits: 1, Work: costHit})
	s.dst = append(s.dst, Hit{c.sig, begin, end})
	return nil
}

// excluded looks for matches of the excludes that overlap text[begin:end].
func (s *scan) excluded(sig int32, c *compiled, begin, end int) (bool, error) {
	from, to := runeStart(s.text, begin-c.sig.Window), runeEnd(s.text, end+c.sig.Window)
	for _, p := range c.excludes {
		for i := from; i < end; {
			b, e, err := p.next(s, sig, i, to)
			if err != nil {
				return false, err
			}
			if b < 0 || b >= end {
				break
			}
			if e > begin && e > b {
				return true, nil
			}
			if i = e; e == b {
				i = e + runeSize(s.text, e)
			}
		}
	}
	return false, nil
}

// sort orders the new hits and drops repeated ones: two literals or patterns of a signature may find the same.
func (s *scan) sort(first int) {
	fresh := s.dst[first:]
	if len(fresh) == 0 {
		return
	}
	slices.SortFunc(fresh, func(a, b Hit) int {
		return cmp.Or(a.Start-b.Start, a.End-b.End, cmp.Compare(a.Sig.ID, b.Sig.ID))
	})
	s.dst = s.dst[:first+len(slices.Compact(fresh))]
}
