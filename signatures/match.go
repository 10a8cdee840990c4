package signatures

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// MaxHits is how many matches of one signature in one text are reported.
const MaxHits = 64

// Hit is one match: evidence, not a finding.
type Hit struct {
	Sig *Signature
	// Start and End are byte offsets into the text.
	Start, End int
}

// Query says how to match one text.
type Query struct {
	// Kind is the kind of payload; unspecified means that every signature applies.
	Kind v1.PayloadKind
	// Budget limits the work, and may be shared by the views of one payload. nil means NewBudget(len(text)).
	Budget *Budget
	// Ctx ends the matching early; it is looked at every pollBytes of work. nil means no deadline.
	Ctx context.Context
}

// Matcher finds the signatures of its packs. It never changes, and may be used by many goroutines.
type Matcher struct {
	sigs     []*compiled
	literals []matchLiteral
	auto     *automaton
	endings  []ending // by the automaton's index
	groups   int      // number of distinct groups that are noted as they pass
	commons  int      // number of groups that are looked for when they are needed
	windows  []int    // the distinct windows, in ascending order
	digest   [sha256.Size]byte
	memory   memory
	scratch  sync.Pool
}

// matchLiteral is a literal of any number of signatures.
type matchLiteral struct {
	*literal
	groups  []int32     // the groups it is in, as far as they are not anchors
	anchors []anchorUse // by window
}

// anchorUse lists the signatures with the same window that have a literal as an anchor.
type anchorUse struct {
	window int // index into Matcher.windows
	sigs   []client
}

// client is what has to be known of a signature to decide whether an anchor counts.
type client struct {
	sig   int32
	kinds uint32
	// first and second are two of the groups it needs; group 0 is always near.
	first, second int32
	more          []int32
	// common are groups that ordinary text is full of. They are looked for when all others are near.
	common []commonGroup
}

// maxCommon is how many literals a common group may have: they are tried one by one.
const maxCommon = 8

// commonGroup finds the literals of a group by itself.
type commonGroup struct {
	number   int // below Matcher.commons
	literals []*literal
	opens    [4]uint64 // the bytes that one of them begins with
}

func newCommonGroup(number int, group []*literal) commonGroup {
	g := commonGroup{number: number, literals: group}
	var buf [utf8.UTFMax]byte
	for _, l := range group {
		for _, r := range l.elems[0].runes {
			utf8.EncodeRune(buf[:], r)
			g.opens[buf[0]>>6] |= 1 << (buf[0] & 63)
		}
	}
	return g
}

// next returns where the first literal begins that lies within text[from:to]. If there is none, ends is false, and begin is where one
// may still lie in a longer range. cost counts what was looked at.
func (g *commonGroup) next(text []byte, from, to int) (begin int, ends bool, cost int) {
	open := to
	for i := from; i < to; i++ {
		if b := text[i]; g.opens[b>>6]>>(b&63)&1 == 0 {
			continue
		}
		cost += len(g.literals)
		for _, l := range g.literals {
			end, ok := l.endAt(text, i)
			if ok && end <= to {
				return i, true, cost + i - from
			}
			if ok {
				open = min(open, i)
			}
		}
	}
	return open, false, cost + max(0, to-from)
}

// Compile makes a matcher. The error is of kind invalid and has one line, "file:line: ...", for each signature that cannot be matched.
// Signatures that can be matched but are not good pass; Lint finds those.
func Compile(packs []*Pack) (*Matcher, error) {
	m := &Matcher{}
	sum := sha256.New()
	seen := map[string]bool{}
	var errs []error
	for _, p := range packs {
		sum.Write(p.Digest[:])
		for _, s := range p.Signatures {
			c, problems := compileSignature(s, &m.memory)
			if seen[s.ID] {
				problems = append(problems, s.problem(Error, "id", "id %q is used twice; rename one", s.ID))
			}
			seen[s.ID] = true
			for _, problem := range problems {
				errs = append(errs, errors.New(problem.String()))
			}
			m.sigs = append(m.sigs, c)
		}
	}
	if len(errs) > 0 {
		return nil, abi.E("compile", v1.ErrorKindInvalid, "signatures", errors.Join(errs[:min(len(errs), maxShownErrors)]...))
	}
	sum.Sum(m.digest[:0])
	newLinker(m).link()
	m.scratch.New = func() any { return m.newScratch() }
	return m, nil
}

// Digest identifies the sources the matcher was made from, in their order.
func (m *Matcher) Digest() [sha256.Size]byte { return m.digest }

// ending is what has to be done where literals may end. Most of them are plain: they do end there, and only groups want to know. Two groups
// are noted without a look at how many there are; group 0 does not mind.
type ending struct {
	first, second sighting
	more          []sighting
	others        []int32 // literals to look at
}

// sighting of a group: it begins size bytes before.
type sighting struct{ group, size int32 }

func (m *Matcher) newEnding(ids []int32) ending {
	var e ending
	for _, id := range ids {
		l := &m.literals[id]
		if len(l.anchors) > 0 || l.word || l.size == 0 {
			e.others = append(e.others, id)
			continue
		}
		for _, g := range l.groups {
			e.more = append(e.more, sighting{g, int32(l.size)})
		}
	}
	if len(e.more) > 0 {
		e.first, e.more = e.more[0], e.more[1:]
	}
	if len(e.more) > 0 {
		e.second, e.more = e.more[0], e.more[1:]
	}
	return e
}

// linker numbers literals, groups and windows, so that what several signatures share is looked for once.
type linker struct {
	m        *Matcher
	literals map[string]int32
	groups   map[string]int32
	trie     *trie
}

func newLinker(m *Matcher) *linker {
	return &linker{m: m, literals: map[string]int32{}, groups: map[string]int32{}, trie: newTrie()}
}

func (k *linker) link() {
	m := k.m
	for _, c := range m.sigs {
		m.windows = append(m.windows, c.sig.Window)
	}
	slices.Sort(m.windows)
	m.windows = slices.Compact(m.windows)
	for i, c := range m.sigs {
		client := client{sig: int32(i), kinds: c.kinds}
		for _, group := range c.groups[1:] {
			if len(group) <= maxCommon && coverage(group, c.sig.Window) > everywhere {
				client.common = append(client.common, newCommonGroup(m.commons, group))
				m.commons++
			} else {
				client.need(k.group(k.intern(group)))
			}
		}
		k.anchor(k.intern(c.groups[0]), c.sig.Window, client)
	}
	m.groups = len(k.groups) + 1
	m.auto = newAutomaton(k.trie, k.examples())
	for _, ids := range m.auto.ends {
		m.endings = append(m.endings, m.newEnding(ids))
	}
	m.auto.ends = nil
}

// examples returns the texts of all signatures.
func (k *linker) examples() []string {
	var out []string
	for _, c := range k.m.sigs {
		out = append(append(out, c.sig.Positive...), c.sig.Negative...)
	}
	return out
}

// intern returns the numbers of a group's literals, sorted.
func (k *linker) intern(group []*literal) []int32 {
	var ids []int32
	for _, l := range group {
		key := l.key()
		id, ok := k.literals[key]
		if !ok {
			id = int32(len(k.m.literals))
			k.literals[key] = id
			k.m.literals = append(k.m.literals, matchLiteral{literal: l})
			k.trie.add(l, id)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// group numbers a set of literals.
func (k *linker) group(ids []int32) int32 {
	key := ""
	for _, id := range ids {
		key += strconv.Itoa(int(id)) + ","
	}
	g, ok := k.groups[key]
	if !ok {
		g = int32(len(k.groups) + 1)
		k.groups[key] = g
		for _, id := range ids {
			l := &k.m.literals[id]
			l.groups = append(l.groups, g)
		}
	}
	return g
}

// need adds a group.
func (c *client) need(g int32) {
	switch {
	case c.first == 0:
		c.first = g
	case c.second == 0:
		c.second = g
	default:
		c.more = append(c.more, g)
	}
}

func (k *linker) anchor(ids []int32, window int, c client) {
	w, _ := slices.BinarySearch(k.m.windows, window)
	for _, id := range ids {
		l := &k.m.literals[id]
		at, ok := slices.BinarySearchFunc(l.anchors, w, func(u anchorUse, w int) int { return u.window - w })
		if !ok {
			l.anchors = slices.Insert(l.anchors, at, anchorUse{window: w})
		}
		l.anchors[at].sigs = append(l.anchors[at].sigs, c)
	}
}
