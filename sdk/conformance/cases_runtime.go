package conformance

import (
	"context"
	"errors"
	"fmt"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

func determinismRepeat(ctx context.Context, s *subject) error {
	for _, x := range ordinary() {
		first, err := s.detect(ctx, s.module, x.req)
		if err != nil {
			return err
		}
		for range 3 {
			again, err := s.detect(ctx, s.module, x.req)
			if err != nil {
				return err
			}
			if err := same(first, again); err != nil {
				return fmt.Errorf("%s, asked twice: %w", x.name, err)
			}
		}
	}
	return nil
}

func determinismClock(ctx context.Context, s *subject) error {
	return s.varied(ctx, "the answer depends on the clock", [][2]uint64{{fixedClock, fixedSeed}, {fixedClock + 86_400e9, fixedSeed}, {0, fixedSeed}, {1, fixedSeed}})
}

func determinismSeed(ctx context.Context, s *subject) error {
	settings := [][2]uint64{}
	for seed := range uint64(16) {
		settings = append(settings, [2]uint64{fixedClock, seed * 0x9e3779b97f4a7c15})
	}
	return s.varied(ctx, "the answer depends on the random seed", settings)
}

// varied asks the same under each (clock, seed) and expects the same answer; the cost may differ, since the request's own bytes do.
func (s *subject) varied(ctx context.Context, what string, settings [][2]uint64) error {
	for _, x := range ordinary() {
		var first guest.Answer
		for i, c := range settings {
			_, a, err := s.askAt(ctx, s.module, v1.OpDetect, &v1.Request{Detect: x.req}, int64(c[0]), c[1])
			if err != nil {
				return err
			}
			if i == 0 {
				first = a
				continue
			}
			if string(first.Body) != string(a.Body) {
				return fmt.Errorf("%s: %s; a verdict must be explained by the payload alone", x.name, what)
			}
		}
	}
	return nil
}

// determinismState asks one lived-in instance what fresh ones were asked, in another order.
func determinismState(ctx context.Context, s *subject) error {
	lease, err := s.keeps.Lease(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	samples := ordinary()
	for round := range 3 {
		for i := range samples {
			x := samples[(i*3+round)%len(samples)]
			fresh, err := s.detect(ctx, s.module, x.req)
			if err != nil {
				return err
			}
			worn, err := s.detect(ctx, lease, x.req)
			if err != nil {
				return fmt.Errorf("%s, on an instance that had calls before: %w", x.name, err)
			}
			if string(fresh.Body) != string(worn.Body) {
				return fmt.Errorf("%s: an earlier call changed the answer; keep nothing between calls", x.name)
			}
		}
	}
	return nil
}

// isolationReset looks at how the engine restores the guest. "fresh" means that it cannot, and why.
func isolationReset(ctx context.Context, s *subject) error {
	if _, _, err := s.ask(ctx, s.module, v1.OpDescribe, &v1.Request{Describe: &v1.DescribeRequest{}}); err != nil {
		return err
	}
	if method := s.module.Stats().ResetMethod; len(method) >= 5 && method[:5] == "fresh" {
		return fmt.Errorf("memory and globals alone do not restore this module, so every call would cost a new instance (%s)", method)
	}
	return nil
}

// budgetFuel compares payloads of 4 and 64 KiB. Sixteen times the text may cost at most sixty-four times the fuel: a factor of four over
// linear, which sorting and hash tables stay under and a quadratic loop does not.
func budgetFuel(ctx context.Context, s *subject) error {
	small, err := s.detect(ctx, s.module, plain(v1.PayloadKindDoc, []byte(prose(4<<10))))
	if err != nil {
		return err
	}
	large, err := s.detect(ctx, s.module, plain(v1.PayloadKindDoc, []byte(prose(64<<10))))
	if err != nil {
		return err
	}
	const floor = 50_000 // what a call costs that does nothing
	if large.Fuel > 64*max(small.Fuel, floor) {
		return fmt.Errorf("4 KiB cost %d units of fuel, 64 KiB cost %d: the cost grows faster than the payload", small.Fuel, large.Fuel)
	}
	return nil
}

// budgetMemory wants no call to ask for more than the plugin said it needs: what it is refused it may or may not survive, and on another
// payload it will not.
func budgetMemory(ctx context.Context, s *subject) error {
	for _, n := range []int{600, 4 << 10, 64 << 10} {
		a, err := s.detect(ctx, s.module, plain(v1.PayloadKindDoc, []byte(prose(n))))
		if err != nil {
			return err
		}
		if a.Refused > 0 {
			return fmt.Errorf("a payload of %d bytes made it ask for a memory of %d bytes, beyond its limit of %d pages; use less, or ask for more in the manifest",
				n, a.Refused, s.limits().MemoryPages)
		}
	}
	return nil
}

// budgetHeap is for what a reset hides: a guest that leaks on every call would die in an engine that does not reset.
func budgetHeap(ctx context.Context, s *subject) error {
	lease, err := s.keeps.Lease(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	body := plain(v1.PayloadKindDoc, []byte(prose(4<<10)))
	for i := range 2000 {
		if _, err := s.detect(ctx, lease, body); err != nil {
			return fmt.Errorf("call %d on one instance: %w", i+1, err)
		}
	}
	return nil
}

func budgetLog(ctx context.Context, s *subject) error {
	limit := s.limits().Log
	for _, x := range ordinary() {
		a, err := s.detect(ctx, s.module, x.req)
		if err != nil {
			return err
		}
		if len(a.Log) >= limit {
			return fmt.Errorf("%s: wrote its log limit of %d bytes or more; what is over is lost", x.name, limit)
		}
	}
	return nil
}

func budgetLarge(ctx context.Context, s *subject) error {
	if s.limits().Input < 1<<20+4<<10 {
		return errSkip("the manifest asks for a smaller input limit")
	}
	a, err := s.detect(ctx, s.module, plain(v1.PayloadKindDoc, []byte(prose(1<<20))))
	if err != nil {
		return err
	}
	if a.Fuel == 0 {
		return errors.New("the engine reported no cost; the suite needs a metered engine")
	}
	return nil
}
