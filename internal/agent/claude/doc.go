// Package claude is the driver of Claude Code (2.1.332), which it runs headless
// with stream-json on both pipes: one JSON object a line.
//
// # A conversation
//
// A session is one process and one conversation. Its id is chosen by us
// (--session-id) or resumed (--resume); two processes on one conversation lose
// turns, so there must never be a second one. The first write is the control
// request `initialize`; its answer makes the session ready. A conversation that
// can't be resumed shows itself as a `result` before that answer.
//
// # Deliveries
//
// Every user message carries a uuid, which is its delivery's id without the
// prefix. A handoff is a user message with shouldQuery:false and
// isSynthetic:true: the model is not asked, and sees it in front of the next
// message as a block of its own, after the line "[MESSAGE FROM NON-USER SOURCE -
// NOT USER INPUT]". Handoffs and message go out as one write.
//
// Text is given as it is. Claude runs a text that starts with "/" as a command,
// even in a handoff, and inlines the file behind an "@". `client_composed:true`
// stops both; it also leaves out what Claude attaches to a message by itself (the
// reminder of tokens left; not its environment, skills or plan mode). So handoffs
// always have it, and messages where their text needs it.
//
// What Claude has is what its transcript has. It is written about 0.1 s behind
// the wire, and only a result waits for it (measured by killing the process at
// each line: at the first text of an answer the message was missing in 3 of 8, at
// the lifecycle "completed" of a folded message in 6 of 8). So a delivery counts
// as accepted at
//
//	a handoff          its own result (num_turns 0)
//	a message          the result of its turn, also of one that it was folded into
//
// and in between the transcript is asked, see FindEvidence.
//
// An answer to a request is never acknowledged; it counts as taken when all of
// it has been written.
//
// # Turns
//
// A turn lasts from system/init to result. An init that names only handoffs is
// none. An init that names no message is a turn that nobody asked for: work in
// the background has ended. A message whose lifecycle says "started" while a turn
// is open was folded into it. Failures are told by is_error and terminal_reason:
// what the model's service refuses is reported as subtype "success".
//
// # Items
//
// Text and thinking stream as events of the Messages API, one block at a time;
// the `assistant` line of a block has its whole text and comes before the block's
// end. A second message_start, or a retry, voids the block that is open. Calls of
// tools open with their `assistant` line and close with their result. Work in the
// background closes as detached with its turn, and for good with its notification;
// an interrupt ends it. What a subagent does hangs under its call. Item keys are
// numbered within the session, since ids of messages may repeat.
//
// # Permission modes
//
//	ask, default, ""   default            every change is asked
//	accept-edits       acceptEdits        edits of files are not asked
//	plan               plan               plans only, then asks
//	auto               auto               Claude's own judge
//	dont-ask           dontAsk            what is not allowed is refused without a question
//	full-access        bypassPermissions  nothing is asked; Claude refuses this to root
//
// A model or mode that changes during a session is set before the next message;
// full access works only in a session that was started with it, and an effort is
// taken at the start only.
package claude
