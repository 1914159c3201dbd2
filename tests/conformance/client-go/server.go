package main

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is what a check knows of the server under test: connections that nobody else uses, and a namespace.
type server struct {
	// namespace exists, and only this check writes to it.
	namespace string
	// config has no client-side rate limit; its requests go through traffic.
	config  *rest.Config
	traffic *traffic
	// typed speaks protobuf.
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

func loadConfig(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}

func connect(ctx context.Context, shared *rest.Config) *server {
	s := &server{config: rest.CopyConfig(shared), traffic: &traffic{}}
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return s.traffic.through(next)
	})
	s.typed = must(kubernetes.NewForConfig(protobuf(s.config)))
	s.dynamic = must(dynamic.NewForConfig(s.config))
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "check-"}}
	s.namespace = must(s.typed.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{})).Name
	return s
}

func protobuf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf
	return config
}

func (s *server) metadata() metadata.Interface {
	return must(metadata.NewForConfig(s.config))
}

func (s *server) apiextensions() apiextensions.Interface {
	return must(apiextensions.NewForConfig(s.config))
}
