package main

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

func init() {
	register(
		check{"dynamic client in JSON: every verb and status", dynamicVerbs},
		check{"metadata client: get, list, patch, watch, delete as PartialObjectMetadata", metadataVerbs},
	)
}

func dynamicVerbs(ctx context.Context, s *server) {
	client := s.dynamic.Resource(deployments).Namespace(s.namespace)
	desired := must(runtime.DefaultUnstructuredConverter.ToUnstructured(newDeployment("web", 2)))
	one := &unstructured.Unstructured{Object: desired}
	one.SetAPIVersion("apps/v1")
	one.SetKind("Deployment")
	watcher := must(client.Watch(ctx, metav1.ListOptions{}))
	defer watcher.Stop()

	created := must(client.Create(ctx, one, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}))
	strategy, _, _ := unstructured.NestedString(created.Object, "spec", "strategy", "type")
	equal(strategy, "RollingUpdate", "defaulted strategy")
	misspelt := one.DeepCopy()
	misspelt.SetName("misspelt")
	ok(unstructured.SetNestedField(misspelt.Object, int64(1), "spec", "replica"))
	_, err := client.Create(ctx, misspelt, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	expectReason(err, metav1.StatusReasonBadRequest, "unknown field")
	expect(strings.Contains(err.Error(), `unknown field "spec.replica"`), "message about the unknown field: %v", err)

	equal(must(client.Get(ctx, "web", metav1.GetOptions{})), created, "get")
	ok(unstructured.SetNestedField(created.Object, int64(3), "spec", "replicas"))
	updated := must(client.Update(ctx, created, metav1.UpdateOptions{}))
	equal(updated.GetGeneration(), 2, "generation after update")
	ok(unstructured.SetNestedField(updated.Object, int64(3), "status", "replicas"))
	updated = must(client.UpdateStatus(ctx, updated, metav1.UpdateOptions{}))
	// A strategic merge patch: containers are merged by name.
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/side:1"}]}}}}`)
	patched := must(client.Patch(ctx, "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{}))
	containers, _, _ := unstructured.NestedSlice(patched.Object, "spec", "template", "spec", "containers")
	equal(len(containers), 2, "containers after the patch")
	list := must(client.List(ctx, metav1.ListOptions{}))
	equal(list.Items, []unstructured.Unstructured{*patched}, "list")
	equal(list.GetKind(), "DeploymentList", "kind of the list")
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{}))
	ok(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))

	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Deleted} {
		event := receive(ctx, watcher.ResultChan(), string(want))
		equal(event.Type, want, "event")
		equal(event.Object.GetObjectKind().GroupVersionKind(), appsDeployment, "kind of the event's object")
	}
	for _, one := range s.traffic.all() {
		if strings.Contains(one.path, "/deployments") {
			equal(one.answerType, runtime.ContentTypeJSON, "type of the answer to "+one.method)
		}
	}
}

var appsDeployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

func metadataVerbs(ctx context.Context, s *server) {
	typed := s.typed.CoreV1().ConfigMaps(s.namespace)
	first := must(typed.Create(ctx, newConfigMap("first", map[string]string{"k": "v"}), metav1.CreateOptions{}))
	client := s.metadata().Resource(configMaps).Namespace(s.namespace)

	got := must(client.Get(ctx, "first", metav1.GetOptions{}))
	equal(got.ObjectMeta, first.ObjectMeta, "metadata")
	list := must(client.List(ctx, metav1.ListOptions{}))
	equal(len(list.Items), 1, "items")
	equal(list.Items[0].ObjectMeta, first.ObjectMeta, "metadata of the item")
	watcher := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true}))
	defer watcher.Stop()

	patched := must(client.Patch(ctx, "first", types.MergePatchType, []byte(`{"metadata":{"labels":{"new":"label"}}}`), metav1.PatchOptions{}))
	equal(patched.Labels["new"], "label", "label after patch")
	ok(client.Delete(ctx, "first", metav1.DeleteOptions{}))
	must(typed.Create(ctx, newConfigMap("second", nil), metav1.CreateOptions{}))
	ok(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=second"}))
	for _, want := range []string{"MODIFIED first", "DELETED first", "ADDED second", "DELETED second"} {
		event := receive(ctx, watcher.ResultChan(), want)
		one, isMetadata := event.Object.(*metav1.PartialObjectMetadata)
		expect(isMetadata, "event %s carries %T", event.Type, event.Object)
		equal(string(event.Type)+" "+one.Name, want, "event")
	}
	equal(must(typed.List(ctx, metav1.ListOptions{})).Items, []corev1.ConfigMap(nil), "what remains")
}
