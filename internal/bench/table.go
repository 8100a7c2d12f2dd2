package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is one line of the table: something measured, what it was compared with,
// and the budget.
type Row struct {
	Name   string
	Value  string // what was measured
	Versus string // what it was compared with, and what that came to; may be empty
	Ratio  float64
	Budget string // "" for a row that has none and is there to be read beside others
	Over   bool
}

// Samples are durations of the same thing.
type Samples []time.Duration

// At returns the q-quantile (0 ≤ q ≤ 1) by nearest rank, 0 of none.
func (s Samples) At(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(s))), len(s)-1)]
}

// String gives median and 99th percentile.
func (s Samples) String() string {
	return fmt.Sprintf("p50 %s p99 %s", show(s.At(.5)), show(s.At(.99)))
}

// show prints a duration with three digits, in µs, ms or s.
func show(d time.Duration) string {
	switch a := d.Abs(); {
	case a < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case a < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d.Microseconds())/1e3)
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// ratio is a/b, 0 where b is nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Print writes the table.
func Print(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmeasured\tagainst\tratio\tbudget\t")
	over := 0
	for _, r := range rows {
		verdict := ""
		switch {
		case r.Over:
			verdict = "OVER"
			over++
		case r.Budget != "":
			verdict = "ok"
		}
		times := ""
		if r.Ratio != 0 {
			times = fmt.Sprintf("%.2f", r.Ratio)
		}
		fmt.Fprintln(t, strings.Join([]string{r.Name, r.Value, r.Versus, times, r.Budget, verdict}, "\t"))
	}
	fmt.Fprintf(t, "\n%d rows, %d over their budget\n", len(rows), over)
	return t.Flush()
}
