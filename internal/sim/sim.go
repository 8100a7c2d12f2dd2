package sim

import (
	"fmt"
	"strings"
)

// Run plays one seed: so many steps with faults, then without until all is at
// rest. It returns what broke, with the world's last words.
func Run(seed uint64, steps int) (err error) {
	w := newWorld(seed)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			tail := w.log[max(0, len(w.log)-40):]
			err = fmt.Errorf("seed %d: %w\nthe last that happened:\n  %s", seed, err, strings.Join(tail, "\n  "))
		}
	}()
	for range steps {
		if err := w.step(); err != nil {
			return err
		}
	}
	return w.finish()
}
