package signatures

// What a text may cost, in bytes verified. BudgetBase lets a short text hit every signature; BudgetPerByte bounds a long one.
const (
	BudgetBase    = 1 << 19
	BudgetPerByte = 24
)

// Budget counts the work of matching. One goroutine at a time may use it. The zero Budget allows nothing.
type Budget struct {
	limit, used int64
	capped      int
}

// NewBudget allows the work that a payload of size bytes may cost.
func NewBudget(size int) *Budget {
	return &Budget{limit: BudgetBase + BudgetPerByte*int64(size)}
}

// Used returns the bytes verified so far.
func (b *Budget) Used() int64 { return b.used }

// Truncated reports whether some signature matched more often than MaxHits, so that hits are missing.
func (b *Budget) Truncated() bool { return b.capped > 0 }
