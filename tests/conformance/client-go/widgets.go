package main

import (
	"context"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// Widget is the custom resource of these checks: each makes `size` ConfigMaps.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size  int64  `json:"size"`
	Color string `json:"color,omitempty"`
}

type WidgetStatus struct {
	Made               int64 `json:"made"`
	ObservedGeneration int64 `json:"observedGeneration"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = nil
	for index := range l.Items {
		copied.Items = append(copied.Items, *l.Items[index].DeepCopyObject().(*Widget))
	}
	return &copied
}

// installWidgets gives each check a group of its own: a definition is for the whole cluster. Both versions have the same
// fields, v1 is stored, and nothing converts but the apiVersion.
func installWidgets(ctx context.Context, s *server) schema.GroupVersion {
	group := strings.ReplaceAll(s.namespace, "_", "-") + ".example.com"
	properties := map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Required: []string{"size"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"size":  {Type: "integer", Minimum: ptr.To(0.0), Maximum: ptr.To(100.0)},
			"color": {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"red"`)}},
		}, XValidations: apiextensionsv1.ValidationRules{{Rule: "self.color != 'none' || self.size == 0", Message: "without color there is no size"}}},
		"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"made": {Type: "integer"}, "observedGeneration": {Type: "integer"},
		}},
	}
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: storage,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.size", StatusReplicasPath: ".status.made"},
			},
			SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
		}
	}
	definition := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				version("v1", true), version("v1beta1", false),
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
		},
	}
	client := s.apiextensions().ApiextensionsV1().CustomResourceDefinitions()
	must(client.Create(ctx, definition, metav1.CreateOptions{}))
	eventually(ctx, "the definition is established", func() bool {
		for _, condition := range must(client.Get(ctx, definition.Name, metav1.GetOptions{})).Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	})
	// Established is a promise: the real server serves a little later.
	gv := schema.GroupVersion{Group: group, Version: "v1"}
	for _, served := range []string{"v1", "v1beta1"} {
		eventually(ctx, served+" is served", func() bool {
			_, err := s.dynamic.Resource(gv.WithResource("widgets").GroupResource().WithVersion(served)).Namespace(s.namespace).List(ctx, metav1.ListOptions{})
			return err == nil
		})
		eventually(ctx, served+" is discovered", func() bool {
			_, err := s.typed.Discovery().ServerResourcesForGroupVersion(group + "/" + served)
			return err == nil
		})
	}
	return gv
}

func init() {
	register(
		check{"custom resources: two versions without conversion, defaults, rules, selectable fields", customVersions},
		check{"custom resources: gone with their definition", customRemoval},
	)
}

func newWidget(gv schema.GroupVersion, name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gv.String(), "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": size},
	}}
}

func customVersions(ctx context.Context, s *server) {
	gv := installWidgets(ctx, s)
	beta := schema.GroupVersion{Group: gv.Group, Version: "v1beta1"}
	stable := s.dynamic.Resource(gv.WithResource("widgets")).Namespace(s.namespace)
	older := s.dynamic.Resource(beta.WithResource("widgets")).Namespace(s.namespace)
	watcher := must(older.Watch(ctx, metav1.ListOptions{}))
	defer watcher.Stop()

	created := must(stable.Create(ctx, newWidget(gv, "web", 1), metav1.CreateOptions{}))
	color, _, _ := unstructured.NestedString(created.Object, "spec", "color")
	equal(color, "red", "defaulted color")
	converted := must(older.Get(ctx, "web", metav1.GetOptions{}))
	equal(converted.GetAPIVersion(), beta.String(), "apiVersion of the other version")
	equal(receive(ctx, watcher.ResultChan(), "event").Object.(*unstructured.Unstructured), converted, "watched in the other version")
	ok(unstructured.SetNestedField(converted.Object, int64(2), "spec", "size"))
	equal(must(older.Update(ctx, converted, metav1.UpdateOptions{})).GetGeneration(), 2, "generation")

	large := newWidget(gv, "large", 101)
	_, err := stable.Create(ctx, large, metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "a size over the maximum")
	colorless := newWidget(gv, "colorless", 1)
	ok(unstructured.SetNestedField(colorless.Object, "none", "spec", "color"))
	_, err = stable.Create(ctx, colorless, metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "a rule that does not hold")
	expect(strings.Contains(err.Error(), "without color there is no size"), "message of the rule: %v", err)
	unknown := newWidget(gv, "unknown", 1)
	ok(unstructured.SetNestedField(unknown.Object, "x", "spec", "colour"))
	_, err = stable.Create(ctx, unknown, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	expectReason(err, metav1.StatusReasonBadRequest, "an unknown field")

	blue := newWidget(gv, "blue", 1)
	ok(unstructured.SetNestedField(blue.Object, "blue", "spec", "color"))
	must(stable.Create(ctx, blue, metav1.CreateOptions{}))
	selected := must(older.List(ctx, metav1.ListOptions{FieldSelector: "spec.color=blue"}))
	equal(namesOf(selected.Items, (*unstructured.Unstructured).GetName), []string{"blue"}, "selected by a field")
	scaled := must(stable.Get(ctx, "web", metav1.GetOptions{}, "scale"))
	equal(scaled.GetKind(), "Scale", "kind of the scale subresource")
}

func customRemoval(ctx context.Context, s *server) {
	gv := installWidgets(ctx, s)
	client := s.dynamic.Resource(gv.WithResource("widgets")).Namespace(s.namespace)
	held := newWidget(gv, "held", 1)
	held.SetFinalizers([]string{"example.com/hold"})
	must(client.Create(ctx, held, metav1.CreateOptions{}))
	must(client.Create(ctx, newWidget(gv, "free", 1), metav1.CreateOptions{}))
	definitions := s.apiextensions().ApiextensionsV1().CustomResourceDefinitions()
	ok(definitions.Delete(ctx, "widgets."+gv.Group, metav1.DeleteOptions{}))
	eventually(ctx, "the free one is deleted", func() bool {
		_, err := client.Get(ctx, "free", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	must(client.Patch(ctx, "held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	eventually(ctx, "the definition is gone", func() bool {
		_, err := definitions.Get(ctx, "widgets."+gv.Group, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	eventually(ctx, "the resource is no longer served", func() bool {
		_, err := client.List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}
