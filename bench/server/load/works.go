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

// The kind that the load works with, as bench/server/kinds.ts declares it. Names and values replace their placeholders.
type kind struct {
	Collection string `json:"collection"`
	Listed     string `json:"listed"`
	Object     string `json:"object"`
	MergePatch string `json:"mergePatch"`
}

func parseKind(text string) (k kind, err error) {
	err = json.Unmarshal([]byte(text), &k)
	return k, err
}

const objects = 500

func (k kind) object(name, value string) []byte {
	return []byte(strings.NewReplacer("__name__", name, "__value__", value).Replace(k.Object))
}

func (k kind) mergePatch(value string) []byte {
	return []byte(strings.ReplaceAll(k.MergePatch, "__value__", value))
}

func existing(n int) string       { return fmt.Sprintf("object-%d", n%objects) }
func created(n, round int) string { return fmt.Sprintf("new-%d-%d", round, n) }

const (
	plain = "application/json"
	merge = "application/merge-patch+json"
	apply = "application/apply-patch+yaml"
)

// The nth request of all, sent by one of the connections.
var works = map[string]func(k kind, n, round int) request{
	"create": func(k kind, n, round int) request {
		return request{"POST", k.Collection, plain, k.object(created(n, round), "v")}
	},
	"get": func(k kind, n, _ int) request {
		return request{method: "GET", path: k.Collection + "/" + existing(n)}
	},
	"list": func(k kind, _, _ int) request { return request{method: "GET", path: k.Listed} },
	"update": func(k kind, n, round int) request {
		return request{"PUT", k.Collection + "/" + existing(n), plain, k.object(existing(n), fmt.Sprint(round, "-", n))}
	},
	"merge patch": func(k kind, n, round int) request {
		return request{"PATCH", k.Collection + "/" + existing(n), merge, k.mergePatch(fmt.Sprintf("p%d-%d", round, n))}
	},
	"server-side apply": func(k kind, n, round int) request {
		name := fmt.Sprintf("applied-%d", n%objects)
		path := k.Collection + "/" + name + "?fieldManager=bench&force=true"
		return request{"PATCH", path, apply, k.object(name, fmt.Sprint("a", round, "-", n))}
	},
	// Deletes the objects that the same round created.
	"delete": func(k kind, n, round int) request {
		return request{method: "DELETE", path: k.Collection + "/" + created(n, round)}
	},
}
