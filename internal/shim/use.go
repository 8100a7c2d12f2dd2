//go:build linux || darwin

package shim

// Usage is what a living session holds of the machine.
type Usage struct {
	PID       int   // of the agent, 0 where it has ended or can't be told
	Processes int   // the agent and all that descends from it
	Memory    int64 // their resident bytes, 0 where the system does not tell
}

// Use looks at the processes under the shims. A shim that is gone, or whose
// number another process has now, has a zero Usage.
func Use(handles []Handle) []Usage {
	out := make([]Usage, len(handles))
	all, err := processes()
	if err != nil {
		return out
	}
	for i, h := range handles {
		if h.PID == 0 || !Alive(h) {
			continue
		}
		for _, p := range all {
			if p.parent == h.PID && (out[i].PID == 0 || p.StartTime < startOf(all, out[i].PID)) {
				out[i].PID = p.PID // the first child is the agent; the others were orphans
			}
		}
		for _, p := range descendants(all, h.PID) {
			out[i].Processes++
			out[i].Memory += resident(p.PID)
		}
	}
	return out
}

func startOf(all []process, pid int) uint64 {
	for _, p := range all {
		if p.PID == pid {
			return p.StartTime
		}
	}
	return 0
}
