// Package codex drives the Codex CLI through its app-server: one JSON object a
// line over stdio, requests in both directions. What it relies on was measured
// with codex 0.171.0.
//
// # A session
//
//	initialize → initialized, config/read → thread/start | thread/resume → FactSessionReady
//
// A message is given as thread/inject_items for each handoff, all at once, and
// when all are answered as turn/start. An injected item counts as accepted with
// the answer, a message only with the item/started of its userMessage: what
// turn/start answers proves nothing after a crash.
//
// The root thread alone has turns in the facts. Threads of subagents share the
// connection: each turn of one is an item (subagent) under which its items lie.
//
// # Keys
//
// Turns are named by codex's turn id. An item's id is whatever the model's
// service sent and may repeat, so an item is named turn id, number in the turn,
// native id. The todo list has no id in codex: each update is an item of its
// own, which closes the one before it.
//
// # A project's own configuration
//
// Left alone, thread/start marks a project as trusted in the person's
// config.toml and then loads the project's .codex/config.toml, MCP servers
// included (codex 0.171.0 does so for git and other directories alike). So each
// launch says for the working directory whether it is trusted; with that said,
// codex writes nothing. What the person's own codex says of the directory does
// not count; where codex's configuration names no approval policy, an untrusted
// project makes codex ask before every command.
//
// # Permission modes
//
//	""           what codex's own configuration says
//	ask          workspace-write sandbox; codex asks before it leaves it
//	read-only    read-only sandbox; codex asks before anything else
//	untrusted    codex asks before every command and change; its own sandbox
//	plan         plan mode, read-only sandbox
//	full-access  no sandbox, no questions
package codex
