// Package modelscript is a model server that says what it is told to say, so
// that real agents can be tested with no network and no account. It speaks two
// wire protocols, each as far as one agent needs it:
//
//	POST /v1/responses   OpenAI Responses, SSE           codex 0.171.0
//	POST /v1/messages    Anthropic Messages, SSE or JSON claude 2.1.332
//
// The script is in the message: marks as package directive reads them. The
// server keeps no state of a conversation, so that a script survives restarts,
// forks and many conversations at once.
//
//	look at it [[think hmm]] [[run touch a.txt]] [[say all done]]
//
// # What is answered
//
// What a user said is the text of user messages without what agents add to it:
// elements with a compound tag (<system-reminder>, <environment_context>,
// <turn_aborted> …), context marked as not the user's, and tool results. A
// message that claude folded into a tool result counts as said after it.
//
// The newest text block of a user that holds a mark is the script. A response
// does its marks up to and including the next tool call. What the model made
// since that block says what is due: a tool round stands for all marks up to its
// call, a text after that for all up to its mark, and for the faults between it
// and the next text, so that [[say a]] [[gate g]] [[cut]] [[say b]] breaks once
// where the agent keeps "a". (The gate gives the agent the time to read it.)
// What the agent did not keep is done again. When nothing is due any more the
// answer is "done"; after a tool call as the last mark that is the final text.
//
// A newer text without marks is a steer where a tool call is the last that the
// model made: the script goes on. Everywhere else, and after an interrupt, it
// ends the script, and the answer is "You said: " and its first 200 characters,
// as it is where no mark is found at all.
//
// A mark inside a mark, such as the task of a subagent, escapes its end:
//
//	[[tool Agent {"prompt":"[[say hi\]\]", …}]]
//
// # Marks
//
//	say TEXT              text, streamed in several deltas that keep words whole
//	think TEXT            reasoning
//	flood N [SIZE]        N bytes of varied words, in deltas of about SIZE bytes (256)
//	usage IN OUT          the tokens that the response reports (100 and 20)
//	run CMD               a shell command: exec_command or Bash
//	run-escalated CMD     the same, asking to leave the sandbox (claude: as run)
//	run-background CMD    the same, going on in the background
//	write PATH⏎CONTENT    a new file, by apply_patch or Write; ends in a line break
//	plan a|b|c            update_plan, TodoWrite or one TaskCreate each; "+a" is
//	                      completed, ">b" in progress; without any, the first is
//	tool NAME JSON        any tool; NAMESPACE.NAME where one is needed
//	gate NAME             hold here until the gate is released
//	stall [NAME]          hold until the client goes (seen as a gate, "stall")
//	fail STATUS [TYPE] [until GATE] [: MESSAGE]   an HTTP error
//	error TYPE [until GATE] [: MESSAGE]           an error event in the stream
//	cut [streams] [until GATE]                    close the connection in the middle;
//	                      with "streams" a request for one document is spared
//
// fail is an HTTP status only where nothing was streamed before it; gates may
// precede it. Later in a response it is an error event. With "until GATE" a mark
// has no effect once that gate is released. A response without text and tool
// call ends with "done". An unknown verb in a script, or an argument that can't
// be read, is HTTP 400 and names the mark.
//
// # By hand
//
//	GET  /requests              what came so far, as JSON lines
//	POST /gate/NAME/release     open a gate
package modelscript
