package signatures

// One step of the automaton has to wait for the one before, which leaves a processor mostly idle. So a block of text is cut into lanes
// that are read side by side, and the seams are mended afterwards.

const (
	laneCount = 4
	maxLane   = 1 << 10 // bytes of a lane, so that a block and its events stay in the nearest cache
	minLane   = 64      // below, mending the seams would cost more than the lanes save
)

// event says that literals end before text[end], where the automaton is in state.
type event struct {
	state uint32
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

// block reads laneCount lanes of n bytes from text[at], coming from state s, and returns the state after them. The events are in l.
func (a *automaton) block(l *lanes, text []byte, at, n int, s uint32) uint32 {
	states := a.parallel(l, text[at:at+laneCount*n], at, n, s)
	for k := 1; k < laneCount; k++ {
		states[k] = a.mend(l, text[:at+(k+1)*n], k, n, states[k-1], states[k])
	}
	return states[laneCount-1]
}

// parallel reads every lane of a block as if nothing stood before it, except for the first. It returns the states at their ends. The
// block begins at offset at.
func (a *automaton) parallel(l *lanes, block []byte, at, n int, s uint32) [laneCount]uint32 {
	t0, t1, t2, t3 := block[:n], block[n:][:n], block[2*n:][:n], block[3*n:][:n]
	for k := range l {
		l[k] = l[k][:0]
	}
	states := [laneCount]uint32{s}
	dense, classes := a.dense, &a.classes
	for i, stop := 0, s >= a.full; i < n; {
		if stop {
			if i = a.apart(l, block, at, n, i, &states); i == n {
				break
			}
		}
		r0, r1, r2, r3 := states[0]*a.width, states[1]*a.width, states[2]*a.width, states[3]*a.width
		for ; i < n; i++ {
			v0 := dense[r0+uint32(classes[t0[i]])]
			v1 := dense[r1+uint32(classes[t1[i]])]
			v2 := dense[r2+uint32(classes[t2[i]])]
			v3 := dense[r3+uint32(classes[t3[i]])]
			if v0|v1|v2|v3 >= special {
				stop = true
				break
			}
			r0, r1, r2, r3 = v0, v1, v2, v3
		}
		states = [laneCount]uint32{r0 / a.width, r1 / a.width, r2 / a.width, r3 / a.width}
	}
	return states
}

// apart steps each lane by itself, at least once and until all are in states with full rows. It notes the events.
func (a *automaton) apart(l *lanes, block []byte, at, n, i int, states *[laneCount]uint32) int {
	for again := true; again && i < n; i++ {
		again = false
		for k := range states {
			to := a.step(states[k], block[k*n+i])
			states[k] = to
			again = again || to >= a.full
			if a.states[to].endsHere != 0 {
				l[k] = append(l[k], event{to, at + k*n + i + 1})
			}
		}
	}
	return i
}

// mend reads on from the end of lane k-1 into lane k, which is the end of text, until it is in the state that lane k was in there: from
// then on, both agree. The events of lane k before that are replaced. The result is the state at the end of lane k.
func (a *automaton) mend(l *lanes, text []byte, k, n int, before, after uint32) uint32 {
	cold := uint32(0)
	skip := 0
	for i := len(text) - n; before != cold; i++ {
		if i == len(text) {
			l[k] = l[k][:0]
			return before
		}
		before, cold = a.step(before, text[i]), a.step(cold, text[i])
		if a.states[cold].endsHere != 0 {
			skip++
		}
		if a.states[before].endsHere != 0 {
			l[k-1] = append(l[k-1], event{before, i + 1})
		}
	}
	l[k] = append(l[k][:0], l[k][skip:]...)
	return after
}
