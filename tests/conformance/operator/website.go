package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "operator.example.com", Version: "v1"}

// Website is what users ask for.
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WebsiteSpec   `json:"spec,omitempty"`
	Status WebsiteStatus `json:"status,omitempty"`
}

type WebsiteSpec struct {
	Title string `json:"title"`
}

type WebsiteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	ReconciledBy       string             `json:"reconciledBy,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Website `json:"items"`
}

func addWebsites(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Website{}, &WebsiteList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}

func (w *Website) DeepCopyObject() runtime.Object {
	copied := *w
	copied.ObjectMeta = *w.ObjectMeta.DeepCopy()
	copied.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &copied
}

func (l *WebsiteList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.ListMeta = *l.ListMeta.DeepCopy()
	copied.Items = make([]Website, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Website)
	}
	return &copied
}
