package main

import (
	"flag"
	"os"
	"os/exec" // want process
)

var _ = flag.Parse
var _ = os.Getenv("BATON_HOME")
var _ = exec.Command
