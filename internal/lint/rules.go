package lint

// Rule is one rule of the house, with what a person who breaks it needs to know.
type Rule struct {
	Name    string // one or two words, stable
	Why     string
	Instead string // what to do instead of breaking it
}

// The rules.
var (
	Root = Rule{"root",
		"the root package is what every other package shares: types, transitions, errors. With I/O or a dependency in it, everything would have them",
		"keep the type here and move what touches the outside into the package that adapts it"}
	Layer = Rule{"layer",
		"the pure core and the drivers know the vocabulary and nothing around it, so that they can be read, replayed and simulated alone",
		"hand the value in with the input, or move the shared part into a package that both may import (see house.go)"}
	Pure = Rule{"pure",
		"the same state and the same input must give the same unit, in a replay and in the simulation as in life",
		"take the time, ids and capabilities in with the input; let the engine do the I/O, as an effect. Looking for evidence on disk belongs into the driver's evidence.go"}
	Process = Rule{"process",
		"a process that the shim did not start has no spool, no lease and nobody who ends its tree",
		"ask internal/shim to start it, or internal/checkpoint/git if it is git"}
	Environment = Rule{"environment",
		"flags and environment are read in one place, cmd, so that a package does the same wherever it runs and its tests can set everything",
		"take the value as a parameter or a field of the package's configuration, and read it in cmd"}
	SQL = Rule{"sql",
		"the journal is the seam between one machine and many: every store must be able to do what callers need",
		"add what you need to package journal's interface, to each store and to its contract suite"}
	Sleep = Rule{"sleep",
		"a test that sleeps is slow where it passes and flaky where it fails",
		"wait for a signal: a channel, an event, a file, a line; or give the code a clock (testing/synctest)"}
	Skip = Rule{"skip",
		"a test that is skipped without a word looks like one that passed",
		"say what is missing, as in t.Skip(\"-short: drives a real agent\"), or make it run"}
	FileSize = Rule{"file size",
		"a file has one subject, and one that is longer than 500 lines has more",
		"split it along its subjects; each part gets the name of its own"}
	Lockfile = Rule{"lockfile",
		"an address of a registry in the lock file makes every install go there, past the registry that the machine is set up for",
		"put omit-lockfile-registry-resolved=true into the .npmrc beside it and lock again"}
	Generated = Rule{"generated",
		"a generated page that is older than its source tells what used to be",
		"run `make generate` and commit what it writes"}
	Syntax = Rule{"syntax",
		"a file that does not parse can't be checked",
		"run gofmt on it"}
)
