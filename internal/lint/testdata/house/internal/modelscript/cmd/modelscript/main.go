package main

import (
	"flag"
	"os"
)

var _ = flag.Parse
var _ = os.Getenv("PORT")
