package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const tenants = "/apis/tenancy.hangar.dev/v1alpha1/tenants"

func tenantName(prefix string, n int) string {
	return fmt.Sprintf("%s-%05d", prefix, n)
}

// Makes tenants, so many at a time: the object, then an administrator's kubeconfig, then a new connection by what that says, and
// the namespaces over it. What is timed is all of this.
func create(arguments []string) (any, error) {
	flags := flag.NewFlagSet("create", flag.ExitOnError)
	root := flags.String("root", "", "kubeconfig of the management plane")
	prefix := flags.String("prefix", "tenant", "of the names")
	from := flags.Int("from", 0, "number of the first")
	count := flags.Int("count", 1, "how many")
	workers := flags.Int("workers", 8, "at a time")
	keep := flags.String("keep", "", "folder for their kubeconfigs")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	var all, made, issued, answered latencies
	begun := time.Now()
	err := inParallel(*count, *workers, func() (func(n int) error, error) {
		manager, err := connectFile(*root)
		if err != nil {
			return nil, err
		}
		// The connection of whoever makes tenants is there before it makes one.
		if _, err := manager.must(200, "GET", "/version", nil); err != nil {
			return nil, err
		}
		return func(n int) error {
			name := tenantName(*prefix, *from+n)
			sent := time.Now()
			if err := makeTenant(manager, name); err != nil {
				return err
			}
			madeAt := time.Now()
			kubeconfig, err := issueKubeconfig(manager, name)
			if err != nil {
				return err
			}
			issuedAt := time.Now()
			tenant, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			defer tenant.close()
			if _, err := tenant.must(200, "GET", "/api/v1/namespaces", nil); err != nil {
				return err
			}
			all.add(time.Since(sent))
			made.add(madeAt.Sub(sent))
			issued.add(issuedAt.Sub(madeAt))
			answered.add(time.Since(issuedAt))
			if *keep == "" {
				return nil
			}
			return os.WriteFile(filepath.Join(*keep, name), []byte(kubeconfig), 0o600)
		}, nil
	})
	return map[string]any{
		"elapsedMs":  milliseconds(time.Since(begun)),
		"all":        all.percentiles(),
		"object":     made.percentiles(),
		"issue":      issued.percentiles(),
		"namespaces": answered.percentiles(),
	}, err
}

func makeTenant(manager *client, name string) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": "tenancy.hangar.dev/v1alpha1",
		"kind":       "Tenant",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"deletionPolicy": "Destroy"},
	})
	if err != nil {
		return err
	}
	_, err = manager.must(201, "POST", tenants, body)
	return err
}

func issueKubeconfig(manager *client, name string) (string, error) {
	answer, err := manager.must(201, "POST", tenants+"/"+name+"/kubeconfig", []byte("{}"))
	if err != nil {
		return "", err
	}
	var issued struct {
		Status struct{ Kubeconfig string }
	}
	if err := json.Unmarshal(answer, &issued); err != nil {
		return "", err
	}
	return issued.Status.Kubeconfig, nil
}
