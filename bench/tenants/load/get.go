package main

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Gets by one kubeconfig over so many connections, each with one request under way: one after the other, or one in every interval.
func get(arguments []string) (any, error) {
	flags := flag.NewFlagSet("get", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "whose")
	path := flags.String("path", "/api/v1/namespaces/default", "what")
	connections := flags.Int("connections", 1, "each with one request under way")
	interval := flags.Duration("interval", 0, "from one request to the next of a connection; 0: at once")
	duration := flags.Duration("duration", 4*time.Second, "")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	var answered latencies
	var refused atomic.Int64
	var failure atomic.Pointer[error]
	var group sync.WaitGroup
	clients := []*client{}
	for range *connections {
		one, err := connectFile(*kubeconfig)
		if err != nil {
			return nil, err
		}
		clients = append(clients, one)
		// Connecting is not what is measured.
		if status, answer, err := one.do("GET", *path, nil); err != nil || (status != 200 && status != 429) {
			return nil, fmt.Errorf("GET %s: %d %s %w", *path, status, answer, err)
		}
	}
	begun := time.Now()
	for position, one := range clients {
		group.Go(func() {
			// Not all in step.
			due := begun.Add(*interval * time.Duration(position) / time.Duration(*connections))
			for failure.Load() == nil {
				time.Sleep(time.Until(due))
				sent := time.Now()
				if sent.Sub(begun) > *duration {
					return
				}
				status, answer, err := one.do("GET", *path, nil)
				if err == nil && status != 200 && status != 429 {
					err = fmt.Errorf("GET %s: %d %s", *path, status, answer)
				}
				if err != nil {
					failure.Store(&err)
					return
				}
				if status == 429 {
					refused.Add(1)
				} else {
					answered.add(time.Since(sent))
				}
				due = due.Add(*interval)
				if now := time.Now(); due.Before(now) {
					due = now
				}
			}
		})
	}
	group.Wait()
	if err := failure.Load(); err != nil {
		return nil, *err
	}
	return map[string]any{
		"elapsedMs": milliseconds(time.Since(begun)),
		"answered":  answered.percentiles(),
		"refused":   refused.Load(),
	}, nil
}
