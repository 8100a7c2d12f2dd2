// Package shim is the small process that holds an agent and outlives the
// server. `baton shim DIR` runs Main: it starts the agent that DIR/session.json
// names, owns its pipes, writes every frame in both directions to a spool in
// DIR, and serves one attached server over a unix socket. A server that is
// restarted or killed loses nothing and interrupts nothing: it attaches again,
// names the last frame that it has committed, and pulls the rest.
//
// # Life
//
// Launch writes the specification, starts the shim in a session of its own and
// returns when its socket answers. The shim starts the agent in its own process
// group, is the subreaper of all that the agent starts (Linux), and has one
// reaper. It ends in one of these ways, each with an exit frame first:
//
//	the agent ends by itself    what it left running is killed and named
//	Stop, SIGTERM, SIGHUP       the ladder: close stdin, wait, SIGTERM to every
//	                            descendant, wait, SIGKILL every descendant
//	the lease ends              the same ladder; a lease runs only while no
//	                            server is attached
//	the agent can't be started  nothing runs; the exit frame has the reason
//
// After the exit frame the shim waits until that frame is acknowledged, or its
// lease ends, and is gone. The spool stays where it is; whoever made DIR
// removes it. If the shim itself is killed, the kernel kills the agent with it
// (Linux), ReadSpool gives the evidence and Sweep ends the orphans.
//
// # Spool
//
// A spool is a row of segment files in DIR, named by the number of their first
// frame: 00000000000000000001.spool. A segment starts with the 8 bytes
// "BTNSPL\x00\x01", the last two being the version; records follow without
// padding. Integers are big-endian.
//
//	offset size
//	 0      4   CRC-32C of everything after it, id and data included
//	 4      4   length of data
//	 8      8   number: 1, 2, 3 … without a gap
//	16      8   time, nanoseconds since 1970 (the shim's clock)
//	24      1   kind (see Kind)
//	25      1   flags: 1 = partial (the line had no line break)
//	26      2   length of id
//	28          id, then data
//
// Only acknowledged frames are deleted, whole segments at a time. At the cap
// of what is not acknowledged the shim stops reading the agent and says so
// with a blocked frame; it never drops. Writes to the agent still get through,
// in a reserve of their own.
//
// Records are not synced to the disk one by one. What is written is safe from
// the death of any process, since the kernel holds it; after a power cut a
// spool is evidence up to its last good checksum, and every session is dead
// anyway.
//
// # Protocol
//
// The protocol is frozen: version 1 of it must be spoken for ever. Each message
// is a 12-byte head and a body; the client asks, the shim answers with the same
// kind and tag.
//
//	offset size
//	 0      4   length of body
//	 4      1   kind
//	 5      1   0 = request, 1 = answer, 2 = error (body: JSON {code, detail})
//	 6      2   zero
//	 8      4   tag, chosen by the client; 0 = no answer wanted
//
//	kind      body of the request              body of the answer
//	1 hello   "baton-shim", u16 version        JSON Hello
//	2 attach  u64 epoch, u64 after             JSON Range
//	3 frame   u32 most bytes wanted            records, as in the spool
//	4 write   u16 length of id, id, data       empty, once accepted is spooled
//	5 ack     u64 number                       empty
//	6 lease   u64 milliseconds                 empty
//	7 signal  u32 signal number                empty
//	8 stop    u64 ms stdin, u64 ms term        empty, once it is taken
//
// hello comes first, then attach. frame is a long pull: it is answered when
// there is at least one frame, with whole records, and with more bytes than
// wanted only if the first record alone is longer. An error with tag 0 is a
// notice, followed by the end of the connection (evicted). A peer of another
// user, or one that descends from the shim itself (the agent and its tools), is
// refused at hello (Linux; elsewhere the modes of directory and socket stand
// alone).
package shim
