package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// flushes is what the disk takes for n appends of a page, each synced.
func flushes(b *testing.B, n int) Samples {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var out Samples
	page := make([]byte, 4096)
	for range n {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		out = append(out, time.Since(began))
	}
	return out
}
