package config

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"baton"
)

// Places says where things lie. With BATON_HOME everything is in that
// directory; without it in the XDG directories.
type Places struct {
	Config   string // the configuration file
	Data     string // directory of what must last, 0700
	Database string
	Sessions string // directory of the sessions' spools
	Script   string // directory of the built-in agent's conversations
	Log      string // of the server
	Browsers string // file of the browsers that were let in
	Lock     string // held by the server of this data
	Starting string // held by a client that starts a server
	Runtime  string // directory of sockets, short, 0700
	Socket   string // of the server's API
}

// maxRuntime is how long the path of the runtime directory may be, so that a
// session's socket in it (25 more bytes) fits into the 103 that macOS takes.
const maxRuntime = 77

// Find returns the places that the environment names. It touches no file.
func Find(env map[string]string, uid int) (Places, error) {
	if home := env["BATON_HOME"]; home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return Places{}, baton.Errorf(baton.CodeConfig, "BATON_HOME can't be used").WithDetail("%v", err)
		}
		return layout(filepath.Join(home, "config.toml"), home, runtimeDir(filepath.Join(home, "run"), home, uid)), nil
	}
	config, data := env["XDG_CONFIG_HOME"], env["XDG_DATA_HOME"]
	home := env["HOME"]
	if home == "" && (config == "" || data == "") {
		return Places{}, baton.Errorf(baton.CodeConfig, "it can't be told where to keep data").
			WithDetail("neither BATON_HOME nor HOME is set").WithHint("set HOME, or BATON_HOME to a directory of its own")
	}
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join(home, ".local", "share")
	}
	data = filepath.Join(data, "baton")
	run := ""
	if dir := env["XDG_RUNTIME_DIR"]; filepath.IsAbs(dir) {
		run = filepath.Join(dir, "baton-"+short(data))
	}
	return layout(filepath.Join(config, "baton", "config.toml"), data, runtimeDir(run, data, uid)), nil
}

func layout(config, data, run string) Places {
	in := func(name string) string { return filepath.Join(data, name) }
	return Places{Config: config, Data: data, Database: in("baton.db"), Sessions: in("sessions"), Script: in("script"), Log: in("server.log"),
		Browsers: in("browsers.json"), Lock: in("server.lock"), Starting: in("starting.lock"), Runtime: run, Socket: filepath.Join(run, "api.sock")}
}

// runtimeDir is the wanted directory, or one in /tmp where that is too long
// for sockets.
func runtimeDir(wanted, data string, uid int) string {
	if wanted != "" && len(wanted) <= maxRuntime {
		return wanted
	}
	return filepath.Join("/tmp", "baton-"+strconv.Itoa(uid)+"-"+short(data))
}

// short names a data directory in a few characters.
func short(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:5])
}

// Make creates the directories where they are missing. A runtime directory
// that belongs to somebody else, or that others may enter, is refused: it
// stands in a place where anybody may make one.
func (p Places) Make() error {
	for _, dir := range []string{p.Data, p.Sessions, p.Script, p.Runtime} {
		if err := private(dir); err != nil {
			return err
		}
	}
	return nil
}

func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return baton.Errorf(baton.CodeConfig, "the directory %s can't be made", dir).WithDetail("%v", err).
			WithHint("see to the permissions, or set BATON_HOME to another directory")
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return baton.Errorf(baton.CodeConfig, "the directory %s can't be used", dir).WithDetail("%v", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&os.ModeSymlink != 0 && filepath.Dir(dir) == "/tmp", ok && int(st.Uid) != os.Getuid() && info.Mode()&os.ModeSymlink == 0:
		return baton.Errorf(baton.CodeForbidden, "the directory %s belongs to somebody else", dir).
			WithDetail("nothing was put into it").WithHint("remove it, or set BATON_HOME to a directory of your own")
	case info.IsDir() && info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(dir, 0o700); err != nil {
			return baton.Errorf(baton.CodeForbidden, "others may enter the directory %s", dir).WithDetail("%v", err).WithHint("chmod 700 %s", dir)
		}
	}
	return nil
}
