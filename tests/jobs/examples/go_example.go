// Each line that must be found says so; everything else must not be.
package main

import (
	"os"
	"os/exec" // expect: go-os-exec
	"plugin"
	"syscall"
)

func main() {
	syscall.Exec("/bin/ls", nil, nil)       // expect: go-start-process
	os.StartProcess("/bin/ls", nil, nil)    // expect: go-start-process
	plugin.Open("x.so")                     // expect: go-plugin
	text := "os/exec"
	os.Exit(len(text))
}
