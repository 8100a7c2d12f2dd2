package shim

import (
	"bytes"
	"os"
	"strconv"
)

// resident returns the bytes of memory that a process holds, 0 where it is gone.
func resident(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	f := bytes.Fields(b)
	if err != nil || len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}
