// The same deeds in other words. Each line that must be found says so; everything else must not be.
package main

import (
	. "syscall"            // expect: go-renamed
	u "golang.org/x/sys/unix" // expect: go-renamed
	e "os/exec"            // expect: go-os-exec
	j "encoding/json"
)

//go:linkname start syscall.forkExec // expect: go-start-process
func start()

func main() {
	syscall.RawSyscall(syscall.SYS_EXECVE, 0, 0, 0) // expect: go-start-process
	C.system(nil)                                   // expect: go-start-process
	s.ForkExec("/bin/ls", nil, nil)                 // expect: go-start-process
	j.Marshal(1)
}
