package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// typedClient is what the generated clients of all kinds have in common.
type typedClient[O object, L runtime.Object] interface {
	Create(ctx context.Context, one O, options metav1.CreateOptions) (O, error)
	Get(ctx context.Context, name string, options metav1.GetOptions) (O, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Update(ctx context.Context, one O, options metav1.UpdateOptions) (O, error)
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (O, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, options metav1.DeleteOptions, listOptions metav1.ListOptions) error
}

type object interface {
	runtime.Object
	metav1.Object
}

// typedCheck takes two objects of the kind through every verb. What the server defaults differs between the kinds and is
// compared elsewhere: here it is enough that the client understands each answer.
func typedCheck[O object, L runtime.Object](kind string, client func(s *server) typedClient[O, L], create func(name string) O) check {
	return check{name: "typed " + kind + " in protobuf: every verb", run: func(ctx context.Context, s *server) {
		typedVerbs(ctx, s, client(s), create)
		for _, one := range s.traffic.all() {
			if one.contentType != "" && one.method != "PATCH" {
				equal(one.contentType, runtime.ContentTypeProtobuf, one.method+" "+one.path+": type of the request")
			}
			want := runtime.ContentTypeProtobuf
			if one.isWatch() {
				want += ";stream=watch"
			}
			equal(one.answerType, want, one.method+" "+one.path+": type of the answer")
		}
	}}
}

func typedVerbs[O object, L runtime.Object](ctx context.Context, s *server, client typedClient[O, L], create func(name string) O) {
	name, other := s.namespace+"-a", s.namespace+"-b"
	mine := metav1.ListOptions{LabelSelector: fmt.Sprintf("check=%s", s.namespace)}
	labelled := func(name string) O {
		one := create(name)
		one.SetLabels(map[string]string{"app": name, "check": s.namespace})
		return one
	}

	before := listMeta(must(client.List(ctx, mine)))
	watchOptions := mine
	watchOptions.ResourceVersion = before.GetResourceVersion()
	watcher := must(client.Watch(ctx, watchOptions))
	defer watcher.Stop()

	created := must(client.Create(ctx, labelled(name), metav1.CreateOptions{FieldManager: "typed"}))
	expect(created.GetUID() != "" && created.GetResourceVersion() != "", "created without identity: %v", created)
	expect(len(created.GetManagedFields()) == 1 && created.GetManagedFields()[0].Manager == "typed",
		"managedFields after create: %v", created.GetManagedFields())
	_, err := client.Create(ctx, labelled(name), metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonAlreadyExists, "create again")

	got := must(client.Get(ctx, name, metav1.GetOptions{}))
	equal(got, created, "get after create")
	_, err = client.Get(ctx, other, metav1.GetOptions{})
	expectReason(err, metav1.StatusReasonNotFound, "get what is not there")

	got.SetAnnotations(map[string]string{"updated": "yes"})
	updated := must(client.Update(ctx, got, metav1.UpdateOptions{}))
	equal(updated.GetAnnotations()["updated"], "yes", "annotation after update")
	_, err = client.Update(ctx, created, metav1.UpdateOptions{})
	expectReason(err, metav1.StatusReasonConflict, "update with an old resourceVersion")

	var patched O
	for _, patchType := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType} {
		data := must(json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"updated": string(patchType)}}}))
		if patchType == types.JSONPatchType {
			data = must(json.Marshal([]any{map[string]any{"op": "replace", "path": "/metadata/annotations/updated", "value": string(patchType)}}))
		}
		patched = must(client.Patch(ctx, name, patchType, data, metav1.PatchOptions{}))
		equal(patched.GetAnnotations()["updated"], string(patchType), "annotation after patch")
	}

	second := must(client.Create(ctx, labelled(other), metav1.CreateOptions{}))
	items := must(meta.ExtractList(must(client.List(ctx, mine))))
	equal(items, []runtime.Object{patched, second}, "list")

	// A claim is protected by a finalizer that a controller would take away when nobody uses it.
	release := func(name string) {
		if len(created.GetFinalizers()) > 0 {
			must(client.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
		}
	}
	ok(client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(created.GetUID()))}))
	release(name)
	expectReason(client.Delete(ctx, name, metav1.DeleteOptions{}), metav1.StatusReasonNotFound, "delete again")
	ok(client.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, mine))
	release(other)
	equal(meta.LenList(must(client.List(ctx, mine))), 0, "objects after deletecollection")

	seen := steadyEvents(watcher.ResultChan())
	for index, want := range []struct {
		kind watch.EventType
		name string
	}{
		{watch.Added, name}, {watch.Modified, name}, {watch.Modified, name}, {watch.Modified, name}, {watch.Modified, name},
		{watch.Added, other}, {watch.Deleted, name}, {watch.Deleted, other},
	} {
		event := receive(ctx, seen, fmt.Sprintf("event %d", index))
		one, isObject := event.Object.(O)
		expect(isObject, "event %d is %s %v", index, event.Type, event.Object)
		equal(string(event.Type)+" "+one.GetName(), string(want.kind)+" "+want.name, fmt.Sprintf("event %d", index))
		if index == 0 {
			equal(one, created, "object of the first event")
		}
	}
}

// steadyEvents leaves out what happens to an object between the order to delete it and its end: podDeletionEvents has
// that for the only kind with graceful deletion.
func steadyEvents(events <-chan watch.Event) <-chan watch.Event {
	steady := make(chan watch.Event)
	go func() {
		defer close(steady)
		for event := range events {
			one, isObject := event.Object.(metav1.Object)
			if event.Type != watch.Modified || !isObject || one.GetDeletionTimestamp() == nil {
				steady <- event
			}
		}
	}()
	return steady
}

func listMeta(list runtime.Object) metav1.ListInterface {
	return must(meta.ListAccessor(list))
}
