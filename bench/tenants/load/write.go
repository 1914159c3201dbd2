package main

import (
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"strings"
	"time"
)

// A request that every tenant gets. `{n}` in the path and in the body counts the times.
type step struct {
	Method string
	Path   string
	Body   json.RawMessage
	Status int
	Times  int
}

// Does the same requests in many tenants, so many tenants at a time, as the administrator of the management plane; or, for one
// tenant, so many requests at a time.
func write(arguments []string) (any, error) {
	flags := flag.NewFlagSet("write", flag.ExitOnError)
	root := flags.String("root", "", "kubeconfig of the management plane")
	prefix := flags.String("prefix", "tenant", "of the names")
	from := flags.Int("from", 0, "number of the first")
	count := flags.Int("count", 1, "how many")
	workers := flags.Int("workers", 8, "at a time")
	stepsFile := flags.String("steps", "", "file with a JSON list of requests")
	within := flags.Bool("within", false, "several requests of one tenant at a time")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(*stepsFile)
	if err != nil {
		return nil, err
	}
	var steps []step
	if err := json.Unmarshal(text, &steps); err != nil {
		return nil, err
	}
	var answered latencies
	do := func(tenant *client, one step, n int) error {
		number := strconv.Itoa(n)
		body := []byte(strings.ReplaceAll(string(one.Body), "{n}", number))
		sent := time.Now()
		_, err := tenant.must(one.Status, one.Method, strings.ReplaceAll(one.Path, "{n}", number), body)
		answered.add(time.Since(sent))
		return err
	}
	connected := func() (*client, error) { return connectFile(*root) }
	begun := time.Now()
	if *within {
		for _, one := range steps {
			err := inParallel(max(1, one.Times), *workers, func() (func(n int) error, error) {
				manager, err := connected()
				if err != nil {
					return nil, err
				}
				tenant := manager.under("/clusters/" + tenantName(*prefix, *from) + "/control-plane")
				return func(n int) error { return do(tenant, one, n) }, nil
			})
			if err != nil {
				return nil, err
			}
		}
	} else {
		err = inParallel(*count, *workers, func() (func(n int) error, error) {
			manager, err := connected()
			if err != nil {
				return nil, err
			}
			return func(n int) error {
				tenant := manager.under("/clusters/" + tenantName(*prefix, *from+n) + "/control-plane")
				for _, one := range steps {
					for time := range max(1, one.Times) {
						if err := do(tenant, one, time); err != nil {
							return err
						}
					}
				}
				return nil
			}, nil
		})
	}
	return map[string]any{"elapsedMs": milliseconds(time.Since(begun)), "answered": answered.percentiles()}, err
}
