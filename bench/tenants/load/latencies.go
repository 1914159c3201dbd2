package main

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type percentiles struct {
	Count int     `json:"count"`
	P50Ms float64 `json:"p50Ms"`
	P99Ms float64 `json:"p99Ms"`
	MaxMs float64 `json:"maxMs"`
}

// Safe to add to from several goroutines.
type latencies struct {
	lock sync.Mutex
	all  []time.Duration
}

func (l *latencies) add(one time.Duration) {
	l.lock.Lock()
	l.all = append(l.all, one)
	l.lock.Unlock()
}

func (l *latencies) count() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.all)
}

func (l *latencies) reset() {
	l.lock.Lock()
	l.all = nil
	l.lock.Unlock()
}

func (l *latencies) percentiles() percentiles {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.all) == 0 {
		return percentiles{}
	}
	sort.Slice(l.all, func(a, b int) bool { return l.all[a] < l.all[b] })
	at := func(share float64) float64 {
		return milliseconds(l.all[min(len(l.all)-1, int(float64(len(l.all))*share))])
	}
	return percentiles{len(l.all), at(0.5), at(0.99), milliseconds(l.all[len(l.all)-1])}
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}

// Does the work for 0 ≤ n < count, so many at a time, until one fails. Each worker is made once and told each n.
func inParallel(count, workers int, worker func() (func(n int) error, error)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	var failed atomic.Pointer[error]
	for range min(workers, count) {
		group.Go(func() {
			work, err := worker()
			for err == nil && failed.Load() == nil {
				n := int(next.Add(1)) - 1
				if n >= count {
					return
				}
				err = work(n)
			}
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
