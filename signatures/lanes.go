package signatures

import "math/bits"

// One step of the automaton has to wait for the one before, which leaves a processor mostly idle. So a block of text is cut into lanes
// that are read side by side, and the seams are mended afterwards.

const (
	laneCount = 4
	maxLane   = 1 << 10 // bytes of a lane, so that a block and its events stay in the nearest cache
	minLane   = 32      // below, mending the seams would cost more than the lanes save
)

// event says that literals may end before text[end]: those that the matcher knows by the index.
type event struct {
	index uint32
	end   int
}

// lanes are the events of each lane of one block.
type lanes struct {
	events [laneCount][]event
	// While a block is read, what the lanes reached is written down for each step in which some literal may end. That is done
	// without a branch, since no processor could foretell it.
	reached [maxLane]uint64 // one entry of a row for each lane
	when    [maxLane]int32
}

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
	for k := range l.events {
		l.events[k] = l.events[k][:0]
	}
	rows, classes := a.rows, &a.classes
	states := [laneCount]ref{r}
	for i := a.apart(l, block, at, n, 0, &states); i < n; i = a.apart(l, block, at, n, i, &states) {
		v0, v1, v2, v3 := uint64(states[0]), uint64(states[1]), uint64(states[2]), uint64(states[3])
		noted := uint(0)
		for i < n {
			v0 = uint64(rows[v0&rowNumber*rowSize+uint64(classes[t0[i]])])
			v1 = uint64(rows[v1&rowNumber*rowSize+uint64(classes[t1[i]])])
			v2 = uint64(rows[v2&rowNumber*rowSize+uint64(classes[t2[i]])])
			v3 = uint64(rows[v3&rowNumber*rowSize+uint64(classes[t3[i]])])
			if (v0|v1|v2|v3)&rowSparse != 0 {
				break
			}
			all := v0 | v1<<16 | v2<<32 | v3<<48
			l.reached[noted&(maxLane-1)] = all
			l.when[noted&(maxLane-1)] = int32(i)
			ends := all & (rowEnds * 0x0001_0001_0001_0001)
			noted += uint((ends | -ends) >> 63)
			i++
		}
		l.keep(a, noted, at, n)
		states = [laneCount]ref{ref(v0 & rowNumber), ref(v1 & rowNumber), ref(v2 & rowNumber), ref(v3 & rowNumber)}
		if i < n {
			for k, v := range [laneCount]uint64{v0, v1, v2, v3} {
				states[k] = l.note(k, a.resolve(uint16(v)), at+k*n+i+1)
			}
			i++
		}
	}
	return states
}

// keep makes events of what was written down.
func (l *lanes) keep(a *automaton, noted uint, at, n int) {
	for j, all := range l.reached[:noted] {
		end := at + int(l.when[j]) + 1
		for ends := all & (rowEnds * 0x0001_0001_0001_0001); ends != 0; ends &= ends - 1 {
			k := bits.TrailingZeros64(ends) >> 4
			l.events[k] = append(l.events[k], event{a.rowEnds[all>>(16*k)&rowNumber], end + k*n})
		}
	}
}

// note keeps an event of lane k if there is one, and returns the state.
func (l *lanes) note(k int, t target, end int) ref {
	if t.ends != 0 {
		l.events[k] = append(l.events[k], event{t.ends, end})
	}
	return t.to
}

// apart reads on from i until all lanes are in states with rows.
func (a *automaton) apart(l *lanes, block []byte, at, n, i int, states *[laneCount]ref) int {
	for ; i < n && (states[0]|states[1]|states[2]|states[3])&refSparse != 0; i++ {
		for k, r := range states {
			states[k] = l.note(k, a.step(r, block[k*n+i]), at+k*n+i+1)
		}
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
			l.events[k] = l.events[k][:0]
			return before
		}
		c := a.step(cold, text[i])
		if cold = c.to; c.ends != 0 {
			skip++
		}
		before = l.note(k-1, a.step(before, text[i]), i+1)
	}
	l.events[k] = append(l.events[k][:0], l.events[k][skip:]...)
	return after
}
