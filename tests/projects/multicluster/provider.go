package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/multicluster-runtime/pkg/clusters"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
)

var projectKind = schema.GroupVersionKind{
	Group:   "resourcemanager.miloapis.com",
	Version: "v1alpha1",
	Kind:    "Project",
}

// projectProvider engages the control plane of every project whose condition Ready is true. Clusters have the name of their project.
type projectProvider struct {
	clusters.Clusters[cluster.Cluster]
	config *rest.Config
	// ctx and aware are set before started is closed.
	ctx     context.Context
	aware   multicluster.Aware
	started chan struct{}
}

var _ multicluster.ProviderRunnable = &projectProvider{}

func newProjectProvider(config *rest.Config) *projectProvider {
	return &projectProvider{
		Clusters: clusters.New[cluster.Cluster](),
		config:   config,
		started:  make(chan struct{}),
	}
}

// Start blocks until the context is done.
func (p *projectProvider) Start(ctx context.Context, aware multicluster.Aware) error {
	p.ctx, p.aware = ctx, aware
	close(p.started)
	<-ctx.Done()
	return nil
}

func (p *projectProvider) setUp(manager ctrl.Manager) error {
	project := &unstructured.Unstructured{}
	project.SetGroupVersionKind(projectKind)
	return ctrl.NewControllerManagedBy(manager).Named("projects").For(project).Complete(&follower{p, manager.GetClient()})
}

// follower engages and disengages the control plane of one project.
type follower struct {
	provider *projectProvider
	client   client.Client
}

func (f *follower) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	select {
	case <-f.provider.started:
	case <-ctx.Done():
		return ctrl.Result{}, ctx.Err()
	}
	name := multicluster.ClusterName(request.Name)
	project := &unstructured.Unstructured{}
	project.SetGroupVersionKind(projectKind)
	err := f.client.Get(ctx, request.NamespacedName, project)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	_, notEngaged := f.provider.Get(ctx, name)
	isEngaged := notEngaged == nil
	if err != nil || project.GetDeletionTimestamp() != nil || !isReady(project) {
		if isEngaged {
			f.provider.Remove(name)
			fmt.Printf("disengaged %s\n", name)
		}
		return ctrl.Result{}, nil
	}
	if isEngaged {
		return ctrl.Result{}, nil
	}
	config := rest.CopyConfig(f.provider.config)
	config.Host = fmt.Sprintf("%s/apis/%s/projects/%s/control-plane", config.Host, projectKind.GroupVersion(), request.Name)
	opened, err := cluster.New(config)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := f.provider.Add(f.provider.ctx, name, opened, f.provider.aware); err != nil {
		return ctrl.Result{}, err
	}
	fmt.Printf("engaged %s\n", name)
	return ctrl.Result{}, nil
}

func isReady(project *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(project.Object, "status", "conditions")
	for _, one := range conditions {
		condition, _ := one.(map[string]any)
		if condition["type"] == "Ready" {
			return condition["status"] == "True"
		}
	}
	return false
}
