package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"baton"
	"baton/internal/journal"
)

// What the store knows of its trouble reaches the client, with what to do.
func TestRefusal(t *testing.T) {
	damaged := baton.Errorf(baton.CodeInternal, "the database is damaged").WithDetail("baton.db: 100%% broken").WithHint("put a backup (50%% of it) in its place")
	for _, c := range []struct {
		err                 error
		title, detail, hint string
	}{
		{damaged, "the database is damaged", "100% broken; nothing was accepted", "put a backup (50% of it)"},
		{fmt.Errorf("append: %w", damaged), "the database is damaged", "nothing was accepted", "put a backup"},
		{fmt.Errorf("%w: %w", journal.ErrUnknown, damaged), "the database is damaged", "the same command again tells", "put a backup"},
		{errors.New("no room"), "the journal could not take it", "no room; nothing was accepted", "see to the disk"},
		{journal.ErrUnknown, "the journal could not take it", "the same command again tells", "see to the disk"},
	} {
		got := refusal(c.err)
		if got.Title != c.title || !strings.Contains(got.Detail, c.detail) || !strings.Contains(got.Hint, c.hint) {
			t.Errorf("%v: %q, %q, %q", c.err, got.Title, got.Detail, got.Hint)
		}
	}
}
