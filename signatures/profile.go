package signatures

// tally counts what each signature costs; a nil tally counts nothing.
type tally struct {
	costs []Cost
}

// Cost is what one signature cost on one text.
type Cost struct {
	Sig *Signature
	// Anchors is how often a literal of the first group occurred, Candidates how often with all other groups near it.
	Anchors, Candidates int
	// Verified is the work of its patterns, in the bytes of a Budget.
	Verified int
	// Hits counts its matches, up to MaxHits.
	Hits int
}

func (t *tally) anchor(sig int32) {
	if t != nil {
		t.costs[sig].Anchors++
	}
}

func (t *tally) candidate(sig int32) {
	if t != nil {
		t.costs[sig].Candidates++
	}
}

func (t *tally) verified(sig int32, n int) {
	if t != nil {
		t.costs[sig].Verified += n
	}
}

func (t *tally) hit(sig int32) {
	if t != nil {
		t.costs[sig].Hits++
	}
}
