package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func mergePatch(change map[string]any) client.Patch {
	text, err := json.Marshal(change)
	if err != nil {
		panic(err)
	}
	return client.RawPatch(types.MergePatchType, text)
}
