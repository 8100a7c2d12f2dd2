// Package bench measures what Baton costs, with real things: the baton binary
// as a server, its shims, agents as child processes, the pinned codex and claude
// before a scripted model server. `make bench` runs it and prints one table.
//
// A time alone says as much about the machine as about Baton. So where there is
// something to compare with, a row measures both in one run, in turns, and the
// verdict is about the ratio. Nothing here fails because it is slow: a row over
// its budget is marked, and the exit status stays 0.
package bench
