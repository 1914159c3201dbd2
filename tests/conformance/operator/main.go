// An operator as people write them, with controller-runtime: it makes a page for every Website, keeps a register of them
// that it must clean up itself, and says in conditions how far it is. The test beside it starts two, of which one leads.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	kubeconfig := flag.String("operator-kubeconfig", "", "credentials")
	name := flag.String("name", "", "written into what this process reconciles")
	namespace := flag.String("namespace", "operator", "of the lease and the register")
	port := flag.Int("webhook-port", 0, "where AdmissionReviews are answered")
	certificates := flag.String("webhook-certificates", "", "folder with tls.crt and tls.key")
	flag.Parse()
	if err := run(*kubeconfig, *name, *namespace, webhookServer(*port, *certificates)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, name, namespace string, webhooks webhook.Server) error {
	ctrl.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addWebsites(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		WebhookServer:                 webhooks,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "websites.operator.example.com",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	if err := (&reconciler{client: manager.GetClient(), name: name, namespace: namespace}).setUp(manager); err != nil {
		return err
	}
	if err := setUpWebhook(manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
