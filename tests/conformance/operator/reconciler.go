package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer    = "operator.example.com/register"
	fieldManager = "websites-operator"
	register     = "register"
)

type reconciler struct {
	client    client.Client
	name      string
	namespace string
}

func (r *reconciler) setUp(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Website{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var website Website
	if err := r.client.Get(ctx, request.NamespacedName, &website); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !website.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.cleanUp(ctx, &website)
	}
	if controllerutil.AddFinalizer(&website, finalizer) {
		// The update's event brings it back.
		return ctrl.Result{}, r.client.Update(ctx, &website)
	}
	if err := r.enter(ctx, &website, website.Spec.Title); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.makePage(ctx, &website); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.tell(ctx, &website)
}

// makePage applies the ConfigMap that the website owns: garbage collection takes it away.
func (r *reconciler) makePage(ctx context.Context, website *Website) error {
	owner := applymetav1.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Website").
		WithName(website.Name).WithUID(website.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	page := applycorev1.ConfigMap(website.Name+"-page", website.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{"index.html": "<h1>" + website.Spec.Title + "</h1>"})
	return r.client.Apply(ctx, page, client.FieldOwner(fieldManager), client.ForceOwnership)
}

// enter writes the website into the register, which belongs to no website: an empty title strikes it out.
func (r *reconciler) enter(ctx context.Context, website *Website, title string) error {
	key := website.Namespace + "." + website.Name
	data := map[string]any{key: title}
	if title == "" {
		data[key] = nil
	}
	var entries corev1.ConfigMap
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: register}, &entries); err != nil {
		return err
	}
	if entries.Data[key] == title {
		return nil
	}
	return r.client.Patch(ctx, &entries, mergePatch(map[string]any{"data": data}))
}

func (r *reconciler) tell(ctx context.Context, website *Website) error {
	before := website.DeepCopyObject().(*Website)
	website.Status.ObservedGeneration = website.Generation
	website.Status.ReconciledBy = r.name
	meta.SetStatusCondition(&website.Status.Conditions, metav1.Condition{
		Type:               "Ready",
		Status:             metav1.ConditionTrue,
		Reason:             "PageMade",
		Message:            "the page is there",
		ObservedGeneration: website.Generation,
	})
	return r.client.Status().Patch(ctx, website, client.MergeFrom(before))
}

func (r *reconciler) cleanUp(ctx context.Context, website *Website) error {
	if !controllerutil.ContainsFinalizer(website, finalizer) {
		return nil
	}
	if err := r.enter(ctx, website, ""); err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(website, finalizer)
	return client.IgnoreNotFound(r.client.Update(ctx, website))
}
