package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

var watchedName = regexp.MustCompile(`"name":"watched-(\d+)"`)

// Opens watches of the ConfigMaps of tenants, a connection for each tenant, and says so. For each line that then comes it writes
// so many objects, in turn to each tenant, and says how long their events took. It ends with its input.
func watch(arguments []string) (any, error) {
	flags := flag.NewFlagSet("watch", flag.ExitOnError)
	root := flags.String("root", "", "kubeconfig of the management plane")
	prefix := flags.String("prefix", "tenant", "of the names")
	count := flags.Int("count", 1, "tenants, from the first")
	each := flags.Int("each", 10, "watches in a tenant")
	writes := flags.Int("writes", 500, "for each line of the input")
	pause := flags.Duration("pause", 5*time.Millisecond, "from one write to the next")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	var lock sync.Mutex
	sentAt := map[int]time.Time{}
	var seen latencies
	tenants := []*client{}
	for n := range *count {
		manager, err := connectFile(*root)
		if err != nil {
			return nil, err
		}
		tenant := manager.under("/clusters/" + tenantName(*prefix, n) + "/control-plane")
		tenants = append(tenants, tenant)
		list, err := tenant.must(200, "GET", "/api/v1/namespaces/default/configmaps?limit=1", nil)
		if err != nil {
			return nil, err
		}
		var read struct {
			Metadata struct{ ResourceVersion string }
		}
		if err := json.Unmarshal(list, &read); err != nil {
			return nil, err
		}
		path := "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=" + read.Metadata.ResourceVersion
		for range *each {
			stream, err := tenant.open("GET", path, nil)
			if err != nil {
				return nil, err
			}
			if stream.StatusCode != 200 {
				return nil, fmt.Errorf("watch: %d", stream.StatusCode)
			}
			go follow(stream.Body, func(number int) {
				lock.Lock()
				sent := sentAt[number]
				lock.Unlock()
				seen.add(time.Since(sent))
			})
		}
	}
	say(map[string]any{"watches": *count * *each})
	number := 0
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		seen.reset()
		var answered latencies
		for range *writes {
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"watched-%d"}}`, number)
			sent := time.Now()
			lock.Lock()
			sentAt[number] = sent
			lock.Unlock()
			_, err := tenants[number%len(tenants)].must(201, "POST", "/api/v1/namespaces/default/configmaps", []byte(body))
			if err != nil {
				return nil, err
			}
			answered.add(time.Since(sent))
			number++
			time.Sleep(*pause)
		}
		for waited := 0; seen.count() < *writes**each && waited < 500; waited++ {
			time.Sleep(10 * time.Millisecond)
		}
		say(map[string]any{"expected": *writes * *each, "events": seen.percentiles(), "writes": answered.percentiles()})
	}
	return map[string]any{}, nil
}

func follow(body io.Reader, onEvent func(number int)) {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if match := watchedName.FindSubmatch(line); match != nil {
			number, _ := strconv.Atoi(string(match[1]))
			onEvent(number)
		}
	}
}
