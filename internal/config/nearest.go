package config

// nearest returns the name that a person most likely meant, or "" where none is
// near: at most one typing mistake in three letters.
func nearest(word string, names []string) string {
	best, least := "", len(word)/3+1
	for _, n := range names {
		if d := mistakes(word, n); d < least || d == least && best == "" {
			best, least = n, d
		}
	}
	return best
}

// mistakes counts letters that were put in, left out, taken for others or
// swapped with their neighbour.
func mistakes(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := append([]int{i}, make([]int, len(b))...)
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
