// Package acp speaks the Agent Client Protocol, version 1: JSON-RPC 2.0, one
// object a line, over the agent's standard input and output. The machine here
// is the client.
//
// # Session
//
// initialize → session/new, or for a conversation that is to go on
// session/resume where the agent claims it, else session/load. A load replays
// the conversation as updates before its answer (Gemini CLI 0.61.0: after it);
// the journal is the truth, so the replay is counted and ignored. The session
// is ready when the answer has come, and after a load that replayed nothing
// before its answer, when no update has come for QuietAfterLoad. A handshake
// that takes longer than HandshakeTimeout fails the session.
//
// # Turns
//
// One session/prompt at a time: OpenCode 1.18.33 merges a second one into the
// first, the other agents kill the first. A handoff travels in the same
// prompt as the person's message, as a text block of its own before it:
//
//	{"type":"text","text":"<the handoff, byte for byte>","_meta":{"baton":{"delivery":"dlv_…","role":"handoff"}}}
//	{"type":"text","text":"\n"}                        only where the handoff does not end with a line break
//	{"type":"text","text":"<the person's message>","_meta":{"baton":{"delivery":"dlv_…","role":"message"}}}
//
// The delimiters are the handoff's own and part of its text; nothing is put
// inside them here. The separate line break is there because Gemini CLI and
// Qwen Code 0.15.10 join text blocks without a separator.
//
// ACP has no acknowledgement. A delivery is accepted with the first update
// that only a turn can cause (text, thought, tool call, plan, a request of the
// agent), or with the prompt's answer; updates about modes, commands, titles
// and usage say nothing. An answer that refuses the prompt (invalid request,
// unknown session, not signed in) before any such update drops it instead.
//
// A turn ends with the prompt's answer. Its stop reason is not believed alone:
// after our session/cancel every answer is `interrupted`, since OpenCode then
// says end_turn in a retry and Qwen Code an internal error. What the agent left
// open is closed first.
//
// # Tool calls
//
// A call is known by its toolCallId inside the turn and comes into being with
// whichever names it first: session/request_permission (Gemini, Qwen),
// tool_call or tool_call_update. A pending call becomes an item when it runs,
// shows content, or asks for permission, since the first announcement is often
// empty (OpenCode). `content` replaces what was there before; text that only
// grew is streamed, other text starts the output over.
//
// # Requests
//
// session/request_permission becomes an approval, elicitation/create in form
// mode a set of questions. No file system and no terminal is offered; whatever
// else an agent asks is refused with -32601 and shown.
//
// # Extensions
//
// Agents that know Baton may use, and others never see:
//
//	_baton/turn_started {sessionId}                a turn that nobody asked for begins
//	_baton/turn_ended   {sessionId, stopReason, error?, usage?}
//	_baton/detached     {sessionId, names}         work that lives on beside turns
//	tool_call_update with _meta.baton.output       output to append
//	agent_message_chunk with _meta.baton.plan      a proposed plan
//	result of a permission with _meta.baton.reason why it was declined
//	_meta.parentToolCallId of an update            the call under which it happens (as Qwen Code)
package acp
