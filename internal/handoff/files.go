package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"baton"
)

// file is what happened to one path over all covered runs.
type file struct {
	path                 string
	change               string
	additions, deletions int
	run                  int // newest
	items                []baton.ItemID
}

// changed notes the files of an item, unless the change did not come about.
func changed(files map[string]*file, it Item, run int) {
	switch it.Status {
	case baton.NodeFailed, baton.NodeCancelled, baton.NodeInterrupted, baton.NodeRolledBack:
		return
	}
	for _, c := range it.Body.Files {
		f := files[c.Path]
		if f == nil {
			f = &file{path: c.Path}
			files[c.Path] = f
		}
		if f.change != "add" || c.Change != "modify" { // a new file that is edited again stays new
			f.change = c.Change
		}
		f.additions += c.Additions
		f.deletions += c.Deletions
		f.run = run
		if !slices.Contains(f.items, it.ID) {
			f.items = append(f.items, it.ID)
		}
	}
}

// lines makes an entry of each file, the last changed last.
func lines(files map[string]*file) []draft {
	all := make([]*file, 0, len(files))
	for _, f := range files {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.run, b.run), strings.Compare(a.path, b.path))
	})
	out := make([]draft, len(all))
	for i, f := range all {
		text := cmp.Or(f.change, "change") + " " + f.path
		if f.additions > 0 || f.deletions > 0 {
			text += fmt.Sprintf(" +%d -%d", f.additions, f.deletions)
		}
		out[i] = draft{section: SectionFiles, items: f.items, whole: true, raws: []raw{{text: text}}}
	}
	return out
}
