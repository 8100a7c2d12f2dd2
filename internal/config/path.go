package config

import (
	"os"
	"path/filepath"
	"strings"
)

// lookPath finds a command: a name on the PATH given, anything with a slash by
// itself. Relative entries of PATH are passed over, since an agent's directory
// is not ours.
func lookPath(command, path string) (string, bool) {
	if strings.ContainsRune(command, '/') {
		return command, filepath.IsAbs(command) && executable(command)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if full := filepath.Join(dir, command); executable(full) {
			return full, true
		}
	}
	return "", false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// expand replaces a leading ~ by the home directory.
func expand(s, home string) string {
	if home == "" {
		return s
	}
	if s == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return s
}
