// Package baton is the vocabulary of Baton: one conversation that any coding
// agent can carry. It holds the words of CONTEXT.md as types: ids, states and
// their legal transitions, commands, facts, intents, events, items, errors. It imports the
// standard library alone and does no I/O; everything around it is named after
// what it adapts.
//
// How the pieces meet:
//
//   - A Command asks (a person, through the API); a Fact reports (an agent,
//     through its driver, or an effect). Both are decided against one thread's
//     state by package decide and give Events, Effects and Intents.
//   - An Event is a transition that happened. The journal holds nothing else as
//     truth: state and read models are folds over events.
//   - An Intent is what a decision wants an agent to be told. A driver turns it
//     into bytes; the bytes leave only after the unit that wants them is durable.
//   - An Effect is a durable side effect that a committed unit asks for.
package baton
