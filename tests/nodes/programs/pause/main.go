// Command pause is process 1 of a PID namespace: it reaps the orphans that become its children.
//
//	pause         waits for SIGINT or SIGTERM: the sandbox container of a pod
//	pause init    prints "ready" and waits until its standard input is closed: the first process of a node, which
//	              ends, and all processes of the node with it, when the process that started it ends
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	go reap()
	if len(os.Args) > 1 && os.Args[1] == "init" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
}

func reap() {
	exited := make(chan os.Signal, 1)
	signal.Notify(exited, syscall.SIGCHLD)
	for range exited {
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
		}
	}
}
