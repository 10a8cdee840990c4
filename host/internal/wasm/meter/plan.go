package meter

import "slices"

// dead is the charge point of code that cannot be reached.
const dead = -1

const (
	// A charge of at most mergeCost units is added to the charge that dominates it, which may take up mergeSum units that way. So a
	// function pays at most mergeSum units a charge for code that it did not run, and most short blocks have no charge of their own.
	mergeCost = 8
	mergeSum  = 16
	// A function's frame costs a unit for bodyPerUnit bytes of its body; a value that a call or a block gives counts as bodyPerValue
	// bytes, because an instruction of three bytes can give a thousand.
	bodyPerUnit  = 64
	bodyPerValue = 8
	// unchecked is the most that straight-line code may charge before it must look at the counter.
	unchecked = 1 << 14
)

// A charge is a place in a body where fuel is taken for the code that it dominates.
type charge struct {
	cost, merged uint64
	// parent is the charge that dominates this one in the same loop.
	parent int
	// loop marks the header of a loop, turn one whose check stands in front of the charge and goes back to it; check, a place where the
	// counter is looked at after the charge; gone, a charge that was merged.
	loop, turn, check, gone bool
	// carry lists locals that the loop changes, see fn.emitTurn.
	carry []uint32
}

// maxCarry is how many locals the check of a loop carries. A loop that changes more carries none.
const maxCarry = 6

// assigned adds a local to those that the loop changes.
func (c *charge) assigned(local uint32) {
	if len(c.carry) <= maxCarry && !slices.Contains(c.carry, local) {
		c.carry = append(c.carry, local)
	}
}

// A plan decides where a function pays, how much, and where it looks at its counter.
//
// Every instruction is charged to the current point, which dominates it and lies in the same innermost loop, so each time that the
// instruction runs, its price was paid since it ran last. Points open where control joins or splits: at the entry, at loop headers,
// in both arms of an if, behind a conditional branch and behind the end of a block that branches leave. A point may always be merged
// into one that dominates it: then its price is paid on the ways around it too.
type plan struct {
	charges []charge
	cur     int
}

// spend adds the cost of an instruction to the current point. Code that cannot be reached costs nothing.
func (p *plan) spend(cost int) {
	if p.cur != dead {
		p.charges[p.cur].cost += uint64(cost)
	}
}

// open makes a new point current, unless the one that dominates it is dead. The first point is its own parent.
func (p *plan) open(parent int, loop bool) bool {
	if parent == dead {
		p.cur = dead
		return false
	}
	p.cur = len(p.charges)
	p.charges = append(p.charges, charge{parent: parent, loop: loop})
	return true
}

// settle merges small charges into those that dominate them, and places the checks: at every loop header, at the entry of a function
// that calls, and where straight-line code has charged much without a check.
func (p *plan) settle(calls bool) {
	for i := len(p.charges) - 1; i > 0; i-- {
		p.merge(&p.charges[i])
	}
	entry := &p.charges[0]
	if entry.check = calls; calls {
		entry.cost = max(entry.cost, 1)
	}
	entry.gone = entry.cost == 0
	sum := uint64(0)
	for i := range p.charges {
		c := &p.charges[i]
		if c.gone {
			continue
		}
		if c.turn {
			sum = 0
		}
		sum += c.cost
		if c.check = c.check || c.loop && !c.turn || sum > unchecked; c.check {
			sum = 0
		}
	}
}

// merge adds c to its parent if it is small. Children come after their parents, so a parent's own turn is yet to come.
func (p *plan) merge(c *charge) {
	parent := &p.charges[c.parent]
	switch {
	case c.loop:
		c.cost = max(c.cost, 1)
	case c.cost == 0:
		c.gone = true
	case c.cost <= mergeCost && parent.merged+c.cost <= mergeSum:
		parent.cost += c.cost
		parent.merged += c.cost
		c.gone = true
	}
}
