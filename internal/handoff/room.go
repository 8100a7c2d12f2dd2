package handoff

import "cmp"

// reserve is the part of an agent's window that is left for its own work.
const reserve = 5

// Budget is how many estimated tokens a document may have: what is configured
// (0 is DefaultBudget), less where the agent's window would not hold it beside
// what the conversation holds already, a fifth in reserve and the person's own
// text. A window of 0 is unknown. It is never below MinBudget.
func Budget(configured int, window, held int64, text string) int {
	configured = cmp.Or(configured, DefaultBudget)
	if window > 0 {
		configured = min(configured, int(window-held-window/reserve)-Tokens(text))
	}
	return max(configured, MinBudget)
}
