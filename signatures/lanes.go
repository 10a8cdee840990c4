package signatures

// One step of the automaton has to wait for the one before, which leaves a processor mostly idle. So a block of text is cut into lanes
// that are read side by side, and the seams are mended afterwards.

const (
	laneCount = 4
	maxLane   = 1 << 10 // bytes of a lane, so that a block and its events stay in the nearest cache
	minLane   = 32      // below, mending the seams would cost more than the lanes save
)

// event says that literals may end before text[end], where the automaton is in state.
type event struct {
	state ref
	end   int
}

// lanes are the events of each lane of one block.
type lanes [laneCount][]event

// laneSize returns how long the lanes of a block should be, of which rest bytes are left; 0 means that it is not worth while.
func laneSize(rest int) int {
	n := min(rest/laneCount, maxLane)
	if n < minLane {
		return 0
	}
	return n
}

// block reads laneCount lanes of n bytes from text[at], coming from state r, and returns the state after them. The events are in l.
func (a *automaton) block(l *lanes, text []byte, at, n int, r ref) ref {
	states := a.parallel(l, text[at:at+laneCount*n], at, n, r)
	for k := 1; k < laneCount; k++ {
		states[k] = a.mend(l, text[:at+(k+1)*n], k, n, states[k-1], states[k])
	}
	return states[laneCount-1]
}

// parallel reads every lane of a block as if nothing stood before it, except for the first. It returns the states at their ends. The
// block begins at offset at.
func (a *automaton) parallel(l *lanes, block []byte, at, n int, r ref) [laneCount]ref {
	t0, t1, t2, t3 := block[:n], block[n:][:n], block[2*n:][:n], block[3*n:][:n]
	for k := range l {
		l[k] = l[k][:0]
	}
	rows, classes := a.rows, &a.classes
	states := [laneCount]ref{r}
	i := a.apart(l, block, at, n, 0, &states)
	for i < n {
		r0, r1, r2, r3 := states[0], states[1], states[2], states[3]
		for ; i < n; i++ {
			r0 = rows[uint32(r0)+uint32(classes[t0[i]])]
			r1 = rows[uint32(r1)+uint32(classes[t1[i]])]
			r2 = rows[uint32(r2)+uint32(classes[t2[i]])]
			r3 = rows[uint32(r3)+uint32(classes[t3[i]])]
			if all := r0 | r1 | r2 | r3; all < refSparse {
				continue
			} else if all&refSparse != 0 {
				i++
				break
			}
			r0, r1, r2, r3 = l.keep(0, r0, at+i+1), l.keep(1, r1, at+i+1+n), l.keep(2, r2, at+i+1+2*n), l.keep(3, r3, at+i+1+3*n)
		}
		states = [laneCount]ref{r0, r1, r2, r3}
		l.note(&states, at+i, n)
		i = a.apart(l, block, at, n, i, &states)
	}
	return states
}

// keep notes that a literal may end in r, and takes the mark off.
func (l *lanes) keep(k int, r ref, end int) ref {
	if r >= refEnds {
		r &^= refEnds
		l[k] = append(l[k], event{r, end})
	}
	return r
}

// note keeps the events of the states reached, and takes their marks off.
func (l *lanes) note(states *[laneCount]ref, end, n int) {
	for k, r := range states {
		if r >= refEnds {
			states[k] = r &^ refEnds
			l[k] = append(l[k], event{states[k], end + k*n})
		}
	}
}

// apart reads on from i until all lanes are in states with rows.
func (a *automaton) apart(l *lanes, block []byte, at, n, i int, states *[laneCount]ref) int {
	for ; i < n && states[0]|states[1]|states[2]|states[3] >= refSparse; i++ {
		for k, r := range states {
			states[k] = a.step(r, block[k*n+i])
		}
		l.note(states, at+i+1, n)
	}
	return i
}

// mend reads on from the end of lane k-1 into lane k, which is the end of text, until it is in the state that lane k was in there: from
// then on, both agree. The events of lane k before that are replaced. The result is the state at the end of lane k.
func (a *automaton) mend(l *lanes, text []byte, k, n int, before, after ref) ref {
	cold := ref(0)
	skip := 0
	for i := len(text) - n; before != cold; i++ {
		if i == len(text) {
			l[k] = l[k][:0]
			return before
		}
		before, cold = a.step(before, text[i]), a.step(cold, text[i])
		if cold >= refEnds {
			cold &^= refEnds
			skip++
		}
		if before >= refEnds {
			before &^= refEnds
			l[k-1] = append(l[k-1], event{before, i + 1})
		}
	}
	l[k] = append(l[k][:0], l[k][skip:]...)
	return after
}
