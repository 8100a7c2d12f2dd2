// Package script is the agent that is built into Baton: a real child process
// (`baton agent script`) that speaks ACP v1 over its standard input and output
// and does what the marks in a message tell it. The demo runs it on a machine
// without agent and key; the fault tests use it. It has no model and is never
// offered as a real agent.
//
// # Marks
//
// The last text block of a prompt is read for marks (package directive), which
// are carried out in their order. Marks in handoff blocks before it mean
// nothing. A message without marks is answered with how many messages of the
// person the conversation holds.
//
//	[[say TEXT]]                 an assistant message, streamed in pieces
//	[[think TEXT]]               reasoning, streamed in pieces
//	[[plan TEXT]]                a proposed plan
//	[[todo a+|b*|c]]             the todo list: + is completed, * in progress
//	[[recall]]                   says every message and handoff that it knows, word for word
//	[[subagent NAME TEXT]]       a subagent that says TEXT
//	[[run CMD]]                  sh -c CMD in the session's directory, in a session of its own
//	[[ask CMD]]                  asks for permission, then runs it or goes on
//	[[write PATH\nCONTENT]]      writes a file
//	[[edit PATH\nOLD\n=>\nNEW]]  replaces the first OLD in a file
//	[[question TEXT|opt|opt]]    asks the person and says the answer; without options, free text
//	[[background CMD]]           starts CMD and goes on; a turn of its own reports its end
//	[[usage IN OUT]]             tokens that the turn reports
//	[[stop REASON]]              the stop reason that the turn reports
//	[[slow N]]                   N ms between pieces from here on; for demos only
//
// Waiting and faults:
//
//	[[gate PATH]]         makes PATH a FIFO, then the file PATH.waiting, and waits for
//	                      a line written to PATH; a plain file at PATH is an open gate
//	[[hang]]              waits until it is cancelled
//	[[ignore-signals]]    from here on deaf to SIGTERM, SIGINT, SIGHUP, session/cancel and the end of stdin
//	[[crash]]             SIGKILLs itself
//	[[crash-unseen]]      the same, before the prompt is stored; must come first
//	[[crash-unacked]]     the same, after it is stored and before any sign of it; must come first
//	[[exit N]]            exits with status N
//	[[fail TEXT]] [[fail-rate]] [[fail-auth]]   the prompt is answered with an error
//	[[garbage]]           lines that are no JSON, no message, or no sense
//	[[flood BYTES]]       that much assistant text in pieces of 4 KB (100k and 5m are understood)
//	[[flood-output BYTES]]  the same as output of a command
//	[[long-line BYTES]]   the same in a single line
//	[[orphan CMD]]        starts CMD as a daemon that outlives the agent
//
// # What it keeps
//
// BATON_SCRIPT_HOME (default $HOME/.baton-script) holds sessions/ID.jsonl, one
// line for each user block, answer and tool result, synced before it is used,
// so that a conversation goes on after a SIGKILL; a conversation is locked by the process
// that has it open. requests.jsonl holds for each prompt the whole context
// that a model would have been sent; BATON_SCRIPT_REQUESTS=0 leaves it out.
// BATON_SCRIPT_NO_RESUME=1 takes back the claim to resume, so that a client
// must load.
package script
