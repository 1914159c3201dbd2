package main

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

func init() {
	register(
		check{"apply: create, own, conflict, force, give up", applyDeployment},
		check{"apply: extract from managedFields, change, apply back", applyExtract},
		check{"apply: status has its own manager entry", applyStatus},
		check{"apply: dynamic client", applyDynamic},
		check{"apply: update after apply keeps both managers", applyThenUpdate},
	)
}

func deploymentConfiguration(s *server, replicas int32, image string) *applyappsv1.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	container := applycorev1.Container().WithName("main").WithImage(image).WithPorts(applycorev1.ContainerPort().WithContainerPort(80))
	return applyappsv1.Deployment("web", s.namespace).WithLabels(labels).WithSpec(applyappsv1.DeploymentSpec().
		WithReplicas(replicas).
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycorev1.PodTemplateSpec().WithLabels(labels).WithSpec(applycorev1.PodSpec().WithContainers(container))))
}

func applyDeployment(ctx context.Context, s *server) {
	client := s.typed.AppsV1().Deployments(s.namespace)
	created := must(client.Apply(ctx, deploymentConfiguration(s, 2, "example.com/main:1"), metav1.ApplyOptions{FieldManager: "one"}))
	equal(len(created.ManagedFields), 1, "manager entries")
	equal(created.ManagedFields[0].Operation, metav1.ManagedFieldsOperationApply, "operation")
	again := must(client.Apply(ctx, deploymentConfiguration(s, 2, "example.com/main:1"), metav1.ApplyOptions{FieldManager: "one"}))
	equal(again.ResourceVersion, created.ResourceVersion, "resourceVersion after an apply that changes nothing")

	_, err := client.Apply(ctx, deploymentConfiguration(s, 5, "example.com/main:2"), metav1.ApplyOptions{FieldManager: "two"})
	expectReason(err, metav1.StatusReasonConflict, "apply of another's fields")
	var status apierrors.APIStatus
	expect(errors.As(err, &status), "not a status: %v", err)
	fields := []string{}
	for _, cause := range status.Status().Details.Causes {
		equal(cause.Type, metav1.CauseTypeFieldManagerConflict, "cause")
		expect(strings.Contains(cause.Message, `conflict with "one"`), "message of the cause: %s", cause.Message)
		fields = append(fields, cause.Field)
	}
	equal(fields, []string{".spec.replicas", `.spec.template.spec.containers[name="main"].image`}, "fields in conflict")

	forced := must(client.Apply(ctx, deploymentConfiguration(s, 5, "example.com/main:2"), metav1.ApplyOptions{FieldManager: "two", Force: true}))
	equal(*forced.Spec.Replicas, 5, "replicas after force")
	// The first manager no longer wants the port; the second still does: it stays until neither does.
	less := deploymentConfiguration(s, 5, "example.com/main:2")
	less.Spec.Template.Spec.Containers[0].Ports = nil
	kept := must(client.Apply(ctx, less, metav1.ApplyOptions{FieldManager: "one"}))
	equal(len(kept.Spec.Template.Spec.Containers[0].Ports), 1, "ports while the second manager has one")
	gone := must(client.Apply(ctx, less, metav1.ApplyOptions{FieldManager: "two"}))
	equal(len(gone.Spec.Template.Spec.Containers[0].Ports), 0, "ports when nobody has one")
}

func applyExtract(ctx context.Context, s *server) {
	client := s.typed.AppsV1().Deployments(s.namespace)
	must(client.Apply(ctx, deploymentConfiguration(s, 2, "example.com/main:1"), metav1.ApplyOptions{FieldManager: "me"}))
	_, err := client.Patch(ctx, "web", "application/merge-patch+json", []byte(`{"metadata":{"annotations":{"foreign":"yes"}}}`), metav1.PatchOptions{FieldManager: "other"})
	ok(err)

	live := must(client.Get(ctx, "web", metav1.GetOptions{}))
	mine := must(applyappsv1.ExtractDeployment(live, "me"))
	expect(mine.Annotations == nil, "extracted another manager's annotation: %v", mine.Annotations)
	equal(mine.Spec.Strategy, nil, "extracted a defaulted field")
	equal(*mine.Spec.Replicas, 2, "extracted replicas")
	equal(*mine.Spec.Template.Spec.Containers[0].Image, "example.com/main:1", "extracted image")
	mine.Spec.WithReplicas(4)
	mine.Spec.Template.Spec.Containers[0].WithImage("example.com/main:2")
	applied := must(client.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "me"}))
	equal(*applied.Spec.Replicas, 4, "replicas")
	equal(applied.Annotations["foreign"], "yes", "the other manager's annotation")
	equal(applied.Generation, 3, "generation: a deployment counts annotations too")
}

func applyStatus(ctx context.Context, s *server) {
	client := s.typed.CoreV1().Pods(s.namespace)
	must(client.Create(ctx, newPod("web"), metav1.CreateOptions{}))
	condition := applycorev1.PodCondition().WithType("Ready").WithStatus("True")
	status := applycorev1.Pod("web", s.namespace).WithStatus(applycorev1.PodStatus().WithConditions(condition))
	applied := must(client.ApplyStatus(ctx, status, metav1.ApplyOptions{FieldManager: "kubelet"}))
	equal(len(applied.Status.Conditions), 1, "conditions")
	entry := applied.ManagedFields[len(applied.ManagedFields)-1]
	for _, one := range applied.ManagedFields {
		if one.Manager == "kubelet" {
			entry = one
		}
	}
	equal(entry.Manager+" "+entry.Subresource, "kubelet status", "manager entry")
	extracted := must(applycorev1.ExtractPodStatus(applied, "kubelet"))
	equal(string(*extracted.Status.Conditions[0].Type), "Ready", "extracted condition")
}

func applyDynamic(ctx context.Context, s *server) {
	client := s.dynamic.Resource(configMaps).Namespace(s.namespace)
	desired := func(data map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": data,
		}}
	}
	must(client.Apply(ctx, "web", desired(map[string]any{"a": "1", "b": "2"}), metav1.ApplyOptions{FieldManager: "me"}))
	applied := must(client.Apply(ctx, "web", desired(map[string]any{"a": "3"}), metav1.ApplyOptions{FieldManager: "me"}))
	data, _, _ := unstructured.NestedStringMap(applied.Object, "data")
	equal(data, map[string]string{"a": "3"}, "data")
	_, err := client.Apply(ctx, "web", desired(nil), metav1.ApplyOptions{})
	expect(err != nil, "an apply without a field manager was accepted")
}

func applyThenUpdate(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	configuration := applycorev1.ConfigMap("web", s.namespace).WithData(map[string]string{"mine": "1"})
	must(client.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "applier"}))
	ok(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live := must(client.Get(ctx, "web", metav1.GetOptions{}))
		live.Data["theirs"] = "2"
		live.Immutable = ptr.To(false)
		_, err := client.Update(ctx, live, metav1.UpdateOptions{FieldManager: "updater"})
		return err
	}))
	applied := must(client.Apply(ctx, configuration.WithData(map[string]string{"more": "3"}), metav1.ApplyOptions{FieldManager: "applier"}))
	equal(applied.Data, map[string]string{"mine": "1", "theirs": "2", "more": "3"}, "data")
	managers := map[string]metav1.ManagedFieldsOperationType{}
	for _, entry := range applied.ManagedFields {
		managers[entry.Manager] = entry.Operation
	}
	equal(managers, map[string]metav1.ManagedFieldsOperationType{"applier": "Apply", "updater": "Update"}, "managers")
}
