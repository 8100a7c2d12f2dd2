package handoff

import (
	"slices"
	"strings"
	"unicode/utf8"

	"baton"
	"baton/internal/redact"
)

const (
	// leastQuote is what a shortened quote costs at least: two marked lines, the
	// line between them and a few characters of each end.
	leastQuote = 80
	// margin is how far, in bytes, a text is redacted beyond what may be shown,
	// so that no half of a secret stands where it is cut.
	margin = 1024
)

// draft is an entry before shortening and redaction.
type draft struct {
	section SectionName
	entry   Entry // without quotes
	raws    []raw
	items   []baton.ItemID // which it shows
	whole   bool           // it is not worth showing in part
}

// raw is the text of a quote.
type raw struct {
	of, text string
	person   bool // word for word
	max      int  // units it may cost; 0 is no limit
	gap      gap
}

// gap is where a text is head and tail only, as the thread has it: the mark
// between them, in bytes of the text, and how many bytes it stands for.
type gap struct{ at, size, bytes int }

// bodyText is the raw of an item's text or output.
func bodyText(b *baton.ItemBody, text string, limit int) raw {
	r := raw{text: text, max: limit}
	if b.Cut == nil || b.Cut.Head <= 0 || len(text) < b.Cut.Head {
		return r
	}
	if mark := b.Cut.Mark(); strings.HasPrefix(text[b.Cut.Head:], mark) {
		r.gap = gap{at: b.Cut.Head, size: len(mark), bytes: int(b.Cut.Omitted)}
	}
	return r
}

// fitted is what fit made of drafts.
type fitted struct {
	kept    []draft // oldest first, with their quotes
	dropped []draft
	used    int // units
	cut     int // shortened quotes
	secrets int

	squeezed bool // for want of room: a drop, or a cut below the quote's own limit
}

// fit keeps as many of the drafts (oldest first) as room units allow, the newest
// first; then it shortens the longest quotes until the rest fits. It reads no
// more of the texts than could be shown.
func fit(drafts []draft, room int) fitted {
	from := newest(drafts, room)
	views := read(drafts[from:], room)
	for least := leastOf(drafts[from:], views); from < len(drafts) && least > room; from++ {
		least -= leastOf(drafts[from:from+1], views)
		views = views[len(drafts[from].raws):]
	}
	share := level(costs(views), room-frames(drafts[from:]))

	f := fitted{dropped: slices.Clone(drafts[:from]), squeezed: from > 0}
	for _, d := range drafts[from:] {
		mine := views[:len(d.raws)]
		views = views[len(d.raws):]
		if d.whole && slices.ContainsFunc(mine, func(v view) bool { return v.cost > share || v.needsCut() }) {
			f.dropped, f.squeezed = append(f.dropped, d), true
			continue
		}
		f.used += frame(d)
		for i, v := range mine {
			q := v.quote(share)
			q.Of = d.raws[i].of
			d.entry.Quotes = append(d.entry.Quotes, q)
			f.used += min(v.cost, share)
			f.secrets += v.secrets
			if q.CutBytes > 0 || d.raws[i].gap.bytes > 0 {
				f.cut++
			}
			if q.CutBytes > 0 {
				f.squeezed = f.squeezed || d.raws[i].max == 0 || share < d.raws[i].max
			}
		}
		f.kept = append(f.kept, d)
	}
	return f
}

// newest returns where the newest drafts begin that could be shown in room, each
// quote at its least. It may be too hopeful: it goes by bytes.
func newest(drafts []draft, room int) int {
	from := len(drafts)
	for from > 0 {
		d := drafts[from-1]
		room -= frame(d)
		for _, r := range d.raws {
			room -= min(len(r.text)+markUnits+1, leastQuote)
		}
		if room < 0 {
			break
		}
		from--
	}
	return from
}

// read views the drafts' quotes, each as far as it could be shown at best:
// units are never fewer than bytes.
func read(drafts []draft, room int) []view {
	var sizes []int
	for _, d := range drafts {
		for _, r := range d.raws {
			sizes = append(sizes, limited(len(r.text)+markUnits+1, r.max))
		}
	}
	share := max(level(sizes, room-frames(drafts)), leastQuote)
	views := make([]view, 0, len(sizes))
	for _, d := range drafts {
		for _, r := range d.raws {
			views = append(views, r.view(limited(share, r.max)))
		}
	}
	return views
}

// frame is what an entry costs without its quotes.
func frame(d draft) int {
	e := d.entry
	e.Quotes = make([]Quote, min(1, len(d.raws)))
	n := units(label(e))
	for _, r := range d.raws {
		if r.of != "" {
			n += units(r.of) + units(":\n")
		}
	}
	return n
}

func frames(drafts []draft) int {
	n := 0
	for _, d := range drafts {
		n += frame(d)
	}
	return n
}

func costs(views []view) []int {
	out := make([]int, len(views))
	for i, v := range views {
		out[i] = v.cost
	}
	return out
}

// leastOf is what the drafts cost with each quote, of which views are the
// first, at its least.
func leastOf(drafts []draft, views []view) int {
	n := frames(drafts)
	for _, d := range drafts {
		for _, v := range views[:len(d.raws)] {
			n += min(v.cost, leastQuote)
		}
		views = views[len(d.raws):]
	}
	return n
}

// level returns the greatest share such that all sizes, none above it, fit into
// room together: small ones whole, and the large ones equally long.
func level(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, n := range sorted {
		share := max(room, 0) / (len(sorted) - i)
		if n > share {
			return share
		}
		room -= n
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

func limited(n, limit int) int {
	if limit > 0 {
		return min(n, limit)
	}
	return n
}

// view is as much of a text as could be shown, made fit and redacted.
type view struct {
	head, tail string // tail only where the middle was never read
	size       int    // of the whole text in bytes
	whole      bool   // head is all of it
	gap        gap
	cost       int // in units, of what is to be shown
	secrets    int
}

// view reads a text of which at most limit units can be shown.
func (r raw) view(limit int) view {
	fit := printable
	if r.person {
		fit = verbatim
	}
	window := limit + margin
	if len(r.text) <= 2*window {
		s, n := redact.Text(fit(r.text))
		v := view{head: s, size: len(s), whole: true, secrets: n, gap: r.gap}
		v.cost = limited(quoteUnits(s), r.max)
		return v
	}
	first, last, n := redact.Ends(fit(r.text[:window]), fit(r.text[len(r.text)-window:]))
	// What lies in the margin may be half a secret, however much was redacted.
	first = first[:boundary(first, len(first)-margin)]
	last = last[boundary(last, margin):]
	return view{head: first, tail: last, size: len(r.text), cost: limited(limit, r.max), secrets: n, gap: r.gap}
}

// boundary returns a place near i between two characters of s, in it.
func boundary(s string, i int) int {
	i = max(0, min(i, len(s)))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// needsCut says that not all of the text can be shown.
func (v view) needsCut() bool { return !v.whole || v.cost < quoteUnits(v.head) }

// quote shows the text within limit units.
func (v view) quote(limit int) Quote {
	limit = min(limit, v.cost)
	if v.whole && quoteUnits(v.head) <= limit {
		return Quote{Text: v.head}
	}
	limit -= units(cutLine(v.size + v.gap.bytes))
	q := Quote{Text: head(v.head, limit/2)}
	rest := v.tail
	if v.whole {
		rest = v.head[len(q.Text):]
	}
	q.Tail = tail(rest, limit-limit/2)
	// A line end beside the cut says nothing.
	q.Text, q.Tail = strings.TrimRight(q.Text, "\r\n"), strings.TrimLeft(q.Tail, "\r\n")
	q.CutBytes = max(1, v.size-len(q.Text)-len(q.Tail)) // redaction may have made it shorter than it was
	if len(q.Text) <= v.gap.at && len(q.Tail) <= v.size-v.gap.at-v.gap.size {
		q.CutBytes += v.gap.bytes - v.gap.size // what the mark stood for went with it
	}
	return q
}
