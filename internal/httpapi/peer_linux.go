package httpapi

import (
	"net"

	"baton"
	"baton/internal/shim"
)

// checkPeer refuses a peer of another user, one that runs under an agent (see
// shim.Held), and one that is gone. What this does not hold back is a process
// that left its shim's tree and has no mark; see docs/threat-model.md.
func checkPeer(c *net.UnixConn) error {
	pid, ours, err := shim.PeerPID(c)
	if err != nil {
		return err
	}
	if !ours {
		return otherUser()
	}
	held, err := shim.Held(pid)
	switch {
	case err != nil:
		return noTelling(err)
	case held:
		return underAgent()
	}
	return nil
}

func otherUser() error {
	return baton.Errorf(baton.CodeForbidden, "this server belongs to another user").WithHint("start your own")
}

func underAgent() error {
	return baton.Errorf(baton.CodeForbidden, "an agent may not use this").
		WithDetail("the caller runs under an agent").WithHint("ask the person to do it")
}

func noTelling(err error) error {
	return baton.Errorf(baton.CodeForbidden, "it can't be told which process asks").
		WithDetail("%v", err).WithHint("ask again from a process that stays until it is answered")
}
