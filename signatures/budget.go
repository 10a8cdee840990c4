package signatures

import (
	"context"
	"errors"
	"fmt"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// What a text may cost, in bytes verified. BudgetBase lets a short text hit every signature; BudgetPerByte bounds a long one.
const (
	BudgetBase    = 1 << 18
	BudgetPerByte = 12
)

// pollBytes is the work between two looks at the context.
const pollBytes = 1 << 16

// The work that other things count as, in verified bytes.
const (
	costEvent  = 1  // one place where literals end
	costAnchor = 2  // one signature looked at for one anchor
	costPike   = 24 // one byte read by the slower of the exact matchers
	costHit    = 16 // one match
)

// Budget counts the work of matching. One goroutine at a time may use it. The zero Budget allows nothing.
type Budget struct {
	limit, used int64
	capped      bool
}

// NewBudget allows the work that a payload of size bytes may cost.
func NewBudget(size int) *Budget {
	return &Budget{limit: BudgetBase + BudgetPerByte*int64(size)}
}

// BudgetOf allows n bytes of verification.
func BudgetOf(n int64) *Budget { return &Budget{limit: n} }

// Used returns the bytes verified so far.
func (b *Budget) Used() int64 { return b.used }

// Truncated reports whether some signature matched more often than MaxHits, so that hits are missing.
func (b *Budget) Truncated() bool { return b.capped }

// meter spends a budget and watches the context.
type meter struct {
	budget *Budget
	ctx    context.Context
	unseen int64 // work since the context was looked at
}

var errOverBudget = errors.New("the text needs more work than its length allows; it was written to be slow, or the signatures are too broad")

// spend counts n bytes of verification.
func (m *meter) spend(n int) error {
	m.budget.used += int64(n)
	if m.budget.used > m.budget.limit {
		return abi.E("match", v1.ErrorKindLimit, "signatures", fmt.Errorf("%w (%d bytes)", errOverBudget, m.budget.limit))
	}
	return m.poll(n)
}

// left returns how much may still be spent.
func (m *meter) left() int { return int(m.budget.limit - m.budget.used) }

// poll counts work that is not verification, such as the one pass over the text.
func (m *meter) poll(n int) error {
	if m.unseen += int64(n); m.unseen < pollBytes || m.ctx == nil {
		return nil
	}
	m.unseen = 0
	err := m.ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return abi.E("match", v1.ErrorKindTimeout, "signatures", err)
	}
	return abi.E("match", v1.ErrorKindCanceled, "signatures", err)
}
