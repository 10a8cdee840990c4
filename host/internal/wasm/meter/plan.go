package meter

// dead is the charge point of code that cannot be reached.
const dead = -1

// Experiment knobs.
var (
	mergeMax    = uint64(12)
	mergeBudget = uint64(24)
	localMode   = false
	directCall  = false
	coldLast    = false
)

// unchecked is the most that a function may charge in straight-line code before it must look at the counter.
const unchecked = 1 << 14

// A charge is a place in a body where fuel is taken for the code that it dominates.
type charge struct {
	cost   uint64
	merged uint64
	parent int
	// loop marks the header of a loop.
	loop, check, gone bool
}

// A plan decides where a function pays, and how much.
type plan struct {
	charges []charge
	cur     int
}

func (p *plan) begin() { p.charges, p.cur = p.charges[:0], 0 }

// spend adds the cost of an instruction to the current point.
func (p *plan) spend(cost int) {
	if p.cur != dead {
		p.charges[p.cur].cost += uint64(cost)
	}
}

// open makes a new point current.
func (p *plan) open(parent int, loop bool) bool {
	if parent == dead && len(p.charges) > 0 {
		p.cur = dead
		return false
	}
	p.charges = append(p.charges, charge{parent: parent, loop: loop, check: loop})
	p.cur = len(p.charges) - 1
	return true
}

// settle merges and places checks.
func (p *plan) settle(calls bool) {
	for i := len(p.charges) - 1; i > 0; i-- {
		c := &p.charges[i]
		parent := &p.charges[max(c.parent, 0)]
		switch {
		case c.loop:
			c.cost = max(c.cost, 1)
		case c.cost == 0:
			c.gone = true
		case c.cost <= mergeMax && parent.merged+c.cost <= mergeBudget:
			parent.cost += c.cost
			parent.merged += c.cost
			c.gone = true
		}
	}
	entry := &p.charges[0]
	entry.check = calls
	if calls {
		entry.cost = max(entry.cost, 1)
	}
	entry.gone = entry.cost == 0
	sum := uint64(0)
	for i := range p.charges {
		c := &p.charges[i]
		if c.gone {
			continue
		}
		if sum += c.cost; sum > unchecked {
			c.check = true
		}
		if c.check {
			sum = 0
		}
	}
}
