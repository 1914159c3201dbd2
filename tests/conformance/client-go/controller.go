package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func init() {
	register(
		check{"controller-runtime: a manager reconciles custom resources, owns ConfigMaps, shuts down", managerReconciles},
		check{"controller-runtime: client patches, applies, reads", clientVerbs},
		check{"controller-runtime: leader election of managers", managersElect},
	)
}

func widgetScheme(gv schema.GroupVersion) *runtime.Scheme {
	types := runtime.NewScheme()
	ok(scheme.AddToScheme(types))
	types.AddKnownTypes(gv, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(types, gv)
	return types
}

func newManager(s *server, types *runtime.Scheme, change func(*manager.Options)) manager.Manager {
	options := manager.Options{
		Scheme:  types,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		// Names are unique in a process by default; several checks have a controller of one name.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	if change != nil {
		change(&options)
	}
	return must(manager.New(s.config, options))
}

// start runs the manager until stop, which waits for its end and returns what it ended with.
func start(ctx context.Context, m manager.Manager) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(10 * time.Second):
			return errors.New("the manager does not end")
		}
	}
}

const (
	widgetFinalizer = "example.com/widgets"
	byColor         = "spec.color"
)

// widgetReconciler makes spec.size ConfigMaps for a Widget and tells so in its status.
type widgetReconciler struct {
	client.Client
	scheme    *runtime.Scheme
	finalized atomic.Int64
	// observed counts the Secrets that came as metadata only.
	observed atomic.Int64
}

func (r *widgetReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(widget, widgetFinalizer) {
			r.finalized.Add(1)
			return reconcile.Result{}, r.Update(ctx, widget)
		}
		return reconcile.Result{}, nil
	}
	before := widget.DeepCopyObject().(*Widget)
	if controllerutil.AddFinalizer(widget, widgetFinalizer) {
		if err := r.Patch(ctx, widget, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return reconcile.Result{}, err
		}
	}
	for index := range widget.Spec.Size {
		if err := r.make(ctx, widget, fmt.Sprintf("%s-%d", widget.Name, index)); err != nil {
			return reconcile.Result{}, err
		}
	}
	if widget.Status.Made == widget.Spec.Size && widget.Status.ObservedGeneration == widget.Generation {
		return reconcile.Result{}, nil
	}
	widget.Status = WidgetStatus{Made: widget.Spec.Size, ObservedGeneration: widget.Generation}
	return reconcile.Result{}, r.Status().Update(ctx, widget)
}

func (r *widgetReconciler) make(ctx context.Context, widget *Widget, name string) error {
	part := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: widget.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, part, func() error {
		part.Data = map[string]string{"color": widget.Spec.Color}
		return controllerutil.SetControllerReference(widget, part, r.scheme)
	})
	// The cache may not have seen yet what an earlier turn made.
	return client.IgnoreAlreadyExists(err)
}

func managerReconciles(ctx context.Context, s *server) {
	gv := installWidgets(ctx, s)
	types := widgetScheme(gv)
	m := newManager(s, types, nil)
	reconciler := &widgetReconciler{Client: m.GetClient(), scheme: types}
	ok(m.GetFieldIndexer().IndexField(ctx, &Widget{}, byColor, func(one client.Object) []string {
		return []string{one.(*Widget).Spec.Color}
	}))
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	ok(builder.ControllerManagedBy(m).
		For(&Widget{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		WatchesMetadata(partial, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			reconciler.observed.Add(1)
			return nil
		})).
		Complete(reconciler))
	stop := start(ctx, m)
	expect(m.GetCache().WaitForCacheSync(ctx), "the cache did not sync")

	direct := must(client.New(s.config, client.Options{Scheme: types}))
	const widgets = 10
	for index := range widgets {
		color := []string{"red", "blue"}[index%2]
		widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("widget-%d", index), Namespace: s.namespace}, Spec: WidgetSpec{Size: 2, Color: color}}
		ok(direct.Create(ctx, widget))
	}
	must(s.typed.CoreV1().Secrets(s.namespace).Create(ctx, &corev1.Secret{ObjectMeta: named("seen")}, metav1.CreateOptions{}))
	inNamespace := client.InNamespace(s.namespace)
	eventually(ctx, "every widget has its status", func() bool {
		list := &WidgetList{}
		ok(direct.List(ctx, list, inNamespace))
		for _, one := range list.Items {
			if one.Status.Made != 2 || one.Status.ObservedGeneration != one.Generation {
				return false
			}
		}
		return len(list.Items) == widgets
	})
	eventually(ctx, "a metadata-only watch saw the secret", func() bool { return reconciler.observed.Load() > 0 })
	blue := &WidgetList{}
	ok(m.GetClient().List(ctx, blue, inNamespace, client.MatchingFields{byColor: "blue"}))
	equal(len(blue.Items), widgets/2, "blue widgets by the cache's index")

	// What is owned comes back, and what changed is put right.
	parts := s.typed.CoreV1().ConfigMaps(s.namespace)
	old := must(parts.Get(ctx, "widget-0-0", metav1.GetOptions{}))
	ok(parts.Delete(ctx, "widget-0-0", metav1.DeleteOptions{}))
	eventually(ctx, "a deleted part comes back", func() bool {
		one, err := parts.Get(ctx, "widget-0-0", metav1.GetOptions{})
		return err == nil && one.UID != old.UID
	})
	must(parts.Patch(ctx, "widget-1-1", "application/merge-patch+json", []byte(`{"data":{"color":"wrong"}}`), metav1.PatchOptions{}))
	eventually(ctx, "a changed part is put right", func() bool {
		return must(parts.Get(ctx, "widget-1-1", metav1.GetOptions{})).Data["color"] == "blue"
	})

	ok(direct.DeleteAllOf(ctx, &Widget{}, inNamespace))
	eventually(ctx, "every finalizer ran and every widget is gone", func() bool {
		list := &WidgetList{}
		ok(direct.List(ctx, list, inNamespace))
		return len(list.Items) == 0
	})
	expect(reconciler.finalized.Load() >= widgets, "%d finalizers ran", reconciler.finalized.Load())
	ok(stop())
}

func clientVerbs(ctx context.Context, s *server) {
	gv := installWidgets(ctx, s)
	direct := must(client.New(s.config, client.Options{Scheme: widgetScheme(gv)}))
	widget := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: s.namespace}, Spec: WidgetSpec{Size: 1}}
	ok(direct.Create(ctx, widget))
	equal(widget.Spec.Color, "red", "defaulted color")
	stale := widget.DeepCopyObject().(*Widget)

	change := func(one *Widget, size int64, options ...client.MergeFromOption) error {
		before := one.DeepCopyObject().(*Widget)
		one.Spec.Size = size
		return direct.Patch(ctx, one, client.MergeFromWithOptions(before, options...))
	}
	ok(change(widget, 2, client.MergeFromWithOptimisticLock{}))
	err := change(stale.DeepCopyObject().(*Widget), 3, client.MergeFromWithOptimisticLock{})
	expect(apierrors.IsConflict(err), "a patch with an old resourceVersion: %v", err)
	ok(change(stale, 3))
	equal(stale.Generation, 3, "generation after two patches")
	stale.Status.Made = 3
	ok(direct.Status().Patch(ctx, stale, client.Merge, client.FieldOwner("status")))
	stale.Spec.Size = 50
	ok(direct.Status().Update(ctx, stale))
	equal(stale.Spec.Size, 3, "size after a status update")
	err = direct.Patch(ctx, newWidget(gv, "web", 1), client.RawPatch("application/strategic-merge-patch+json", []byte(`{}`)))
	expect(err != nil, "a strategic merge patch of a custom resource was accepted")

	pod := newPod("web")
	pod.Namespace = s.namespace
	ok(direct.Create(ctx, pod))
	base := pod.DeepCopy()
	pod.Spec.Containers[0].Image = "example.com/main:2"
	ok(direct.Patch(ctx, pod, client.StrategicMergeFrom(base)))
	equal(pod.Spec.Containers[0].Image, "example.com/main:2", "image")

	desired := newWidget(gv, "applied", 4)
	desired.SetNamespace(s.namespace)
	ok(direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(desired), client.FieldOwner("check")))
	equal(desired.GetGeneration(), 1, "generation of what was applied")
	theirs := newWidget(gv, "applied", 5)
	theirs.SetNamespace(s.namespace)
	err = direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(theirs.DeepCopy()), client.FieldOwner("other"))
	expect(apierrors.IsConflict(err), "apply of another's field: %v", err)
	ok(direct.Apply(ctx, client.ApplyConfigurationFromUnstructured(theirs), client.FieldOwner("other"), client.ForceOwnership))
	ok(direct.Apply(ctx, applycorev1.ConfigMap("typed", s.namespace).WithData(map[string]string{"k": "v"}), client.FieldOwner("check")))

	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(gv.WithKind("WidgetList"))
	ok(direct.List(ctx, partial, client.InNamespace(s.namespace), client.Limit(10)))
	equal(namesOf(partial.Items, (*metav1.PartialObjectMetadata).GetName), []string{"applied", "web"}, "metadata of the widgets")
	untyped := &unstructured.Unstructured{}
	untyped.SetGroupVersionKind(gv.WithKind("Widget"))
	ok(direct.Get(ctx, client.ObjectKeyFromObject(theirs), untyped))
	size, _, _ := unstructured.NestedInt64(untyped.Object, "spec", "size")
	equal(size, 5, "size after force")
	scale := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale"}}
	ok(direct.SubResource("scale").Get(ctx, theirs, scale))
	replicas, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	equal(replicas, 5, "replicas of the scale")

	dry := client.NewDryRunClient(direct)
	ok(dry.Delete(ctx, untyped))
	ok(direct.Get(ctx, client.ObjectKeyFromObject(theirs), untyped))
	watching := must(client.NewWithWatch(s.config, client.Options{Scheme: widgetScheme(gv)}))
	watcher := must(watching.Watch(ctx, &WidgetList{}, client.InNamespace(s.namespace)))
	defer watcher.Stop()
	equal(receive(ctx, watcher.ResultChan(), "a typed event").Object.(*Widget).Name, "applied", "first widget")
}

func managersElect(ctx context.Context, s *server) {
	types := widgetScheme(schema.GroupVersion{Group: "unused.example.com", Version: "v1"})
	elected := func() (manager.Manager, func() error) {
		m := newManager(s, types, func(options *manager.Options) {
			options.LeaderElection = true
			options.LeaderElectionID = "managers"
			options.LeaderElectionNamespace = s.namespace
			options.LeaderElectionReleaseOnCancel = true
			// Short: a write in flight when the first steps down can make its release fail; then its lease has to expire.
			options.LeaseDuration, options.RenewDeadline = ptr.To(3*time.Second), ptr.To(2*time.Second)
			options.RetryPeriod = ptr.To(200 * time.Millisecond)
		})
		return m, start(ctx, m)
	}
	first, stopFirst := elected()
	select {
	case <-first.Elected():
	case <-ctx.Done():
		fail("the first manager never leads")
	}
	second, stopSecond := elected()
	select {
	case <-second.Elected():
		fail("two managers lead")
	case <-time.After(500 * time.Millisecond):
	}
	ok(stopFirst())
	select {
	case <-second.Elected():
	case <-ctx.Done():
		fail("the second manager never leads")
	}
	ok(stopSecond())
}
