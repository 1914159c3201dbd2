// Command multicluster is an operator with sigs.k8s.io/multicluster-runtime. It engages the control plane of every ready project of a Hangar,
// and writes the name of the project into the ConfigMaps that have the label "greet".
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	mcbuilder "sigs.k8s.io/multicluster-runtime/pkg/builder"
	mcmanager "sigs.k8s.io/multicluster-runtime/pkg/manager"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

const label = "greet"

func main() {
	path := flag.String("management-kubeconfig", "", "kubeconfig of the management plane")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	if err := run(ctrl.SetupSignalHandler(), *path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return err
	}
	projects := newProjectProvider(config)
	manager, err := mcmanager.New(config, projects, mcmanager.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	if err := projects.setUp(manager.GetLocalManager()); err != nil {
		return err
	}
	reconcile := func(ctx context.Context, request mcreconcile.Request) (ctrl.Result, error) {
		return ctrl.Result{}, greet(ctx, manager, request)
	}
	err = mcbuilder.ControllerManagedBy(manager).
		Named("greeting").
		For(&corev1.ConfigMap{}).
		Complete(mcreconcile.Func(reconcile))
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// greet writes the name of the project of a ConfigMap into it.
func greet(ctx context.Context, manager mcmanager.Manager, request mcreconcile.Request) error {
	cluster, err := manager.GetCluster(ctx, request.ClusterName)
	if err != nil {
		return err
	}
	var found corev1.ConfigMap
	if err := cluster.GetClient().Get(ctx, request.NamespacedName, &found); err != nil {
		return client.IgnoreNotFound(err)
	}
	project := request.ClusterName.String()
	if _, isGreeted := found.Labels[label]; !isGreeted || found.Data["project"] == project {
		return nil
	}
	changed := found.DeepCopy()
	changed.Data = map[string]string{"project": project}
	return cluster.GetClient().Patch(ctx, changed, client.MergeFrom(&found))
}
