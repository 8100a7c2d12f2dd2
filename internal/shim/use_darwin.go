package shim

// resident is not told here: the system call for it needs cgo.
func resident(int) int64 { return 0 }
