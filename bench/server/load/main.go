// The load of the server benchmark: connections that each have one request under way, over TLS, for a given time. It is not
// written in TypeScript because it shares the machine with what it measures: it must cost little, and must not take turns with
// a server of one thread.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type result struct {
	Requests  int     `json:"requests"`
	ElapsedMs float64 `json:"elapsedMs"`
	P50Ms     float64 `json:"p50Ms"`
	P99Ms     float64 `json:"p99Ms"`
	Failure   string  `json:"failure,omitempty"`
}

func main() {
	address := flag.String("address", "", "host:port")
	token := flag.String("token", "", "bearer token")
	protocol := flag.String("protocol", "h2", "h2 or http/1.1")
	work := flag.String("work", "get", "what to do")
	kind := flag.String("kind", "", "JSON: collection, listed, object, mergePatch")
	round := flag.Int("round", 0, "part of the names that are created")
	connections := flag.Int("connections", 16, "each with one request under way")
	duration := flag.Duration("duration", 4*time.Second, "")
	requestsMax := flag.Int64("requests", 1<<62, "stop after so many")
	flag.Parse()
	of, err := parseKind(*kind)
	if err == nil {
		err = run(of, *address, *token, *protocol, *work, *round, *connections, *duration, *requestsMax)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(of kind, address, token, protocol, work string, round, connections int, duration time.Duration, requestsMax int64) error {
	make, ok := works[work]
	if !ok {
		return fmt.Errorf("no such work: %s", work)
	}
	clients := []client{}
	for range connections {
		one, err := connect(address, token, protocol)
		if err != nil {
			return err
		}
		clients = append(clients, one)
	}
	var next atomic.Int64
	var failure atomic.Value
	latencies := [][]time.Duration{}
	var lock sync.Mutex
	var group sync.WaitGroup
	begun := time.Now()
	for _, one := range clients {
		group.Go(func() {
			mine := []time.Duration{}
			for time.Since(begun) < duration && failure.Load() == nil {
				n := next.Add(1) - 1
				if n >= requestsMax {
					break
				}
				request := make(of, int(n), round)
				sent := time.Now()
				status, err := one.do(request)
				mine = append(mine, time.Since(sent))
				// Two at once on one object are a conflict, which is an answer like any other.
				if err != nil || (status >= 300 && status != 409) {
					failure.Store(fmt.Sprintf("%s %s: status %d, %v", request.method, request.path, status, err))
				}
			}
			lock.Lock()
			latencies = append(latencies, mine)
			lock.Unlock()
		})
	}
	group.Wait()
	return json.NewEncoder(os.Stdout).Encode(summary(latencies, time.Since(begun), failure.Load()))
}

func summary(latencies [][]time.Duration, elapsed time.Duration, failure any) result {
	all := []time.Duration{}
	for _, some := range latencies {
		all = append(all, some...)
	}
	sort.Slice(all, func(a, b int) bool { return all[a] < all[b] })
	text, _ := failure.(string)
	return result{
		Requests:  len(all),
		ElapsedMs: float64(elapsed.Microseconds()) / 1000,
		P50Ms:     percentile(all, 0.5),
		P99Ms:     percentile(all, 0.99),
		Failure:   text,
	}
}

func percentile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := min(len(sorted)-1, int(float64(len(sorted))*share))
	return float64(sorted[at].Microseconds()) / 1000
}
