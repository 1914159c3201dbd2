package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

func init() {
	register(
		check{"typed namespaces in protobuf: deletion waits for finalize", namespaceFinalize},
		check{"typed status: UpdateStatus changes nothing else, Update leaves status", statusSubresource},
		check{"typed pods: binding and eviction", bindingAndEviction},
		check{"typed pods: graceful deletion as a watcher sees it", podDeletionEvents},
	)
}

func namespaceFinalize(ctx context.Context, s *server) {
	client := s.typed.CoreV1().Namespaces()
	name := s.namespace + "-extra"
	created := must(client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	equal(created.Spec.Finalizers, []corev1.FinalizerName{corev1.FinalizerKubernetes}, "finalizers of a new namespace")
	equal(created.Labels[corev1.LabelMetadataName], name, "label of a new namespace")
	ok(client.Delete(ctx, name, metav1.DeleteOptions{}))
	terminating := must(client.Get(ctx, name, metav1.GetOptions{}))
	equal(terminating.Status.Phase, corev1.NamespaceTerminating, "phase of a deleted namespace")
	_, err := s.typed.CoreV1().ConfigMaps(name).Create(ctx, newConfigMap("late", nil), metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonForbidden, "create in a terminating namespace")

	terminating.Spec.Finalizers = nil
	must(client.Finalize(ctx, terminating, metav1.UpdateOptions{}))
	_, err = client.Get(ctx, name, metav1.GetOptions{})
	expectReason(err, metav1.StatusReasonNotFound, "get a finalized namespace")
}

func statusSubresource(ctx context.Context, s *server) {
	client := s.typed.AppsV1().Deployments(s.namespace)
	created := must(client.Create(ctx, newDeployment("web", 1), metav1.CreateOptions{}))
	equal(created.Generation, 1, "generation after create")

	both := created.DeepCopy()
	both.Status.ReadyReplicas, both.Status.Replicas = 1, 1
	both.Spec.Replicas = ptr.To[int32](5)
	status := must(client.UpdateStatus(ctx, both, metav1.UpdateOptions{}))
	equal(status.Status.ReadyReplicas, 1, "readyReplicas after UpdateStatus")
	equal(*status.Spec.Replicas, 1, "replicas after UpdateStatus")
	equal(status.Generation, 1, "generation after UpdateStatus")

	both.ResourceVersion = status.ResourceVersion
	both.Status.ReadyReplicas = 0
	updated := must(client.Update(ctx, both, metav1.UpdateOptions{}))
	equal(updated.Status.ReadyReplicas, 1, "readyReplicas after Update")
	equal(*updated.Spec.Replicas, 5, "replicas after Update")
	equal(updated.Generation, 2, "generation after Update")
}

func bindingAndEviction(ctx context.Context, s *server) {
	client := s.typed.CoreV1().Pods(s.namespace)
	must(client.Create(ctx, newPod("web"), metav1.CreateOptions{}))
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	ok(client.Bind(ctx, binding, metav1.CreateOptions{}))
	pod := must(client.Get(ctx, "web", metav1.GetOptions{}))
	equal(pod.Spec.NodeName, "node-1", "nodeName after Bind")
	expectReason(client.Bind(ctx, binding, metav1.CreateOptions{}), metav1.StatusReasonConflict, "bind again")

	ok(client.EvictV1(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: "web"},
		DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)},
	}))
	_, err := client.Get(ctx, "web", metav1.GetOptions{})
	expectReason(err, metav1.StatusReasonNotFound, "get an evicted pod")
}

func podDeletionEvents(ctx context.Context, s *server) {
	client := s.typed.CoreV1().Pods(s.namespace)
	scheduled := newPod("web")
	scheduled.Spec.NodeName = "node-1"
	created := must(client.Create(ctx, scheduled, metav1.CreateOptions{}))
	watcher := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: created.ResourceVersion}))
	defer watcher.Stop()
	next := func(want watch.EventType) *corev1.Pod {
		event := receive(ctx, watcher.ResultChan(), string(want))
		equal(event.Type, want, "event")
		return event.Object.(*corev1.Pod)
	}

	ok(client.Delete(ctx, "web", metav1.DeleteOptions{}))
	ordered := next(watch.Modified)
	equal(ptr.Deref(ordered.DeletionGracePeriodSeconds, -1), 30, "grace period that the pod asks for")
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	forced := next(watch.Modified)
	equal(ptr.Deref(forced.DeletionGracePeriodSeconds, -1), 0, "grace period after force")
	gone := next(watch.Deleted)
	expect(gone.ResourceVersion != forced.ResourceVersion, "DELETED carries the resourceVersion of the deletion")
}
