// Command lint holds the tree to the house rules (see package lint). It is run
// in the repository's root, prints what breaks a rule and exits with 1 if
// anything does, with 2 if the tree can't be read.
//
//	go run ./internal/lint/cmd/lint [-generate]
package main

import (
	"flag"
	"fmt"
	"os"

	"baton/internal/lint"
)

func main() {
	generate := flag.Bool("generate", false, "write the generated pages instead of checking them")
	flag.Parse()
	if *generate {
		if err := lint.Generate(".", lint.Documents); err != nil {
			fail(err)
		}
		return
	}
	found, err := lint.Check(".", lint.Documents)
	if err != nil {
		fail(err)
	}
	lint.Report(os.Stderr, found)
	if len(found) > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "lint:", err)
	os.Exit(2)
}
