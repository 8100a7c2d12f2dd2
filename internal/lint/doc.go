// Package lint holds the house rules of this repository: which package may
// import what, who may start a process, who may read the environment, and a few
// rules about files and tests. It explains itself: each violation says where it
// is, which rule it breaks, why there is such a rule and what to do instead.
//
//	internal/decide/run.go:12: pure: uses time.Now
//	    why: the same state and the same input must give the same unit, …
//	    instead: take the time, ids and capabilities in with the input …
//
// Run it with `make lint`; `go test ./internal/lint` holds the tree to it too.
//
// The rules themselves are in rules.go; which package each of them is about,
// and every exception with its reason, is in house.go. An exception is one row
// of a table there: a comment in a source file can't switch a rule off.
//
// The lint reads syntax, not types: it resolves the names of imported packages
// and looks at what is called on them. That is fast (no build, no network), and
// the ways around it (a dot import, a function value from another package) are
// ones that a reader of the change sees.
package lint
