package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// check is one statement about the server. It holds if run returns; the assertions of assert.go end it early, and may
// only be used on the goroutine that run was called on.
type check struct {
	name string
	run  func(ctx context.Context, s *server)
}

// checks is filled by the init functions of the files that define them: the order is the files'.
var checks []check

func register(more ...check) { checks = append(checks, more...) }

// runChecks runs them side by side and returns how many failed.
func runChecks(ctx context.Context, config *rest.Config, selected []check, parallel int, timeout time.Duration) int {
	var group sync.WaitGroup
	var mutex sync.Mutex
	failed := 0
	slots := make(chan struct{}, parallel)
	for _, one := range selected {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			began := time.Now()
			failure := runCheck(ctx, one, config, timeout)
			mutex.Lock()
			defer mutex.Unlock()
			if failure == "" {
				fmt.Printf("ok %s\t%d ms\n", one.name, time.Since(began).Milliseconds())
				return
			}
			failed++
			fmt.Printf("FAIL %s: %s\n", one.name, strings.ReplaceAll(failure, "\n", " | "))
		})
	}
	group.Wait()
	return failed
}

// runCheck returns why the check failed, empty if it did not. A check that ignores the end of its context is left
// behind: its goroutine ends with the process.
func runCheck(parent context.Context, one check, config *rest.Config, timeout time.Duration) string {
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	result := make(chan string, 1)
	go func() {
		defer func() {
			switch problem := recover().(type) {
			case nil:
				result <- ""
			case failure:
				result <- problem.message
			default:
				result <- fmt.Sprintf("panic: %v\n%s", problem, debug.Stack())
			}
		}()
		one.run(ctx, connect(ctx, config))
	}()
	select {
	case message := <-result:
		return message
	case <-time.After(timeout + 5*time.Second):
		return fmt.Sprintf("no end after %s", timeout)
	}
}
