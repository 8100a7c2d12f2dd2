package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cmdTTY is `tty COLUMNS FILE command…`: runs a command on a terminal of that
// width, and writes all that it shows into the file. The command may fail.
func cmdTTY(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: tty COLUMNS FILE command…")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	master, slave, err := openTTY(columns)
	ts.Check(err)
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), slave, slave
	cmd.Env = append(os.Environ(), "TERM=xterm")
	for _, k := range []string{"BATON_HOME", "HOME", "USER", "TMPDIR", "PATH"} {
		cmd.Env = append(cmd.Env, k+"="+ts.Getenv(k))
	}
	ts.Check(cmd.Start())
	slave.Close()
	out, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // how Linux tells that nobody writes any more
		ts.Fatalf("%v", err)
	}
	master.Close()
	_ = cmd.Wait() // what it says counts, not how it ends
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out, 0o600))
}

func openTTY(columns int) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)}); err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

var styles = regexp.MustCompile("\x1b\\[[0-9]*m")

// cmdFits is `fits COLUMNS FILE…`: no line of the files is longer.
func cmdFits(ts *testscript.TestScript, neg bool, args []string) {
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		for line := range strings.SplitSeq(ts.ReadFile(name), "\n") {
			line = styles.ReplaceAllString(strings.TrimSuffix(line, "\r"), "")
			if n := utf8.RuneCountInString(line); n > columns {
				ts.Fatalf("%s: %d columns: %q", name, n, line)
			}
		}
	}
}
