package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type request struct {
	method, path, contentType string
	body                      []byte
}

const (
	objects    = 500
	collection = "/api/v1/namespaces/bench/configmaps"
	listed     = "/api/v1/namespaces/bench-list/configmaps"
)

var filler = strings.Repeat("x", 1024)

func configMap(name, value string) []byte {
	body, _ := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": name, "namespace": "bench"},
		"data":       map[string]any{"filler": filler, "value": value},
	})
	return body
}

func existing(n int) string       { return fmt.Sprintf("object-%d", n%objects) }
func created(n, round int) string { return fmt.Sprintf("new-%d-%d", round, n) }

const (
	plain = "application/json"
	merge = "application/merge-patch+json"
	apply = "application/apply-patch+yaml"
)

// The nth request of all, sent by one of the connections.
var works = map[string]func(n, round int) request{
	"create": func(n, round int) request {
		return request{"POST", collection, plain, configMap(created(n, round), "v")}
	},
	"get":  func(n, _ int) request { return request{method: "GET", path: collection + "/" + existing(n)} },
	"list": func(_, _ int) request { return request{method: "GET", path: listed} },
	"update": func(n, round int) request {
		return request{"PUT", collection + "/" + existing(n), plain, configMap(existing(n), fmt.Sprint(round, "-", n))}
	},
	"merge patch": func(n, round int) request {
		body := fmt.Appendf(nil, `{"data":{"value":"p%d-%d"}}`, round, n)
		return request{"PATCH", collection + "/" + existing(n), merge, body}
	},
	"server-side apply": func(n, round int) request {
		name := fmt.Sprintf("applied-%d", n%objects)
		path := collection + "/" + name + "?fieldManager=bench&force=true"
		return request{"PATCH", path, apply, configMap(name, fmt.Sprint("a", round, "-", n))}
	},
	// What was created before, by the same numbers.
	"delete": func(n, round int) request {
		return request{method: "DELETE", path: collection + "/" + created(n, round)}
	},
}
