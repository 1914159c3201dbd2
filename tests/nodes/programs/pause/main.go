// Command pause is process 1 of a PID namespace, for the sandbox container of a pod: it waits for SIGINT or SIGTERM, and reaps the orphans
// that become its children.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	go reap()
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
