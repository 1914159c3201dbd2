// Command informers runs informers of client-go for several kinds and compares their caches with the server.
//
// It prints `synced` when all caches are filled. For each line on standard input it waits until every cache has the objects
// and resourceVersions of a list, and prints `same OBJECTS RELISTS`, or `different: why` after the time limit. RELISTS is the
// number of times that informers filled their caches again, by a list or by a stream of initial events. A line `missed FILE`
// names a file with one `RESOURCE NAMESPACE/NAME UID RESOURCEVERSION` per line: it waits until events with all of them
// have arrived, and prints `missed COUNT FIRST` after the time limit, or `missed 0` at once. It exits with 1 when a
// resourceVersion of an object appears twice with different contents.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// Kinds with typed informers, which use Protobuf, and kinds with dynamic ones.
var typed = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "namespaces"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
}
var untyped = []schema.GroupVersionResource{
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
}

type program struct {
	client dynamic.Interface
	stores map[schema.GroupVersionResource]cache.Store
	fills  atomic.Int64
	mutex  sync.Mutex
	// Digest of the content by kind, name, uid and resourceVersion.
	seen map[string][32]byte
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file with credentials")
	limit := flag.Duration("limit", time.Minute, "time limit of a comparison")
	flag.Parse()
	logs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logs)
	_ = logs.Set("logtostderr", "false")
	klog.SetOutput(io.Discard)
	if err := run(*kubeconfig, *limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig string, limit time.Duration) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 200
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	p := &program{client: client, stores: map[schema.GroupVersionResource]cache.Store{}, seen: map[string][32]byte{}}
	// The informers have clients of their own, whose requests are counted.
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next: next, fills: &p.fills} })
	followed, err := dynamic.NewForConfig(counted)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(counted)
	if err != nil {
		return err
	}
	ctx := context.Background()
	factory := informers.NewSharedInformerFactory(clientset, 0)
	for _, resource := range typed {
		informer, err := factory.ForResource(resource)
		if err != nil {
			return err
		}
		if err := p.follow(resource, informer.Informer()); err != nil {
			return err
		}
	}
	dynamicFactory := dynamicinformer.NewDynamicSharedInformerFactory(followed, 0)
	for _, resource := range untyped {
		if err := p.follow(resource, dynamicFactory.ForResource(resource).Informer()); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	dynamicFactory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	dynamicFactory.WaitForCacheSync(ctx.Done())
	fmt.Println("synced")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		if file, ok := strings.CutPrefix(input.Text(), "missed "); ok {
			fmt.Println(p.missed(file, limit))
		} else {
			fmt.Println(p.compare(ctx, limit))
		}
	}
	return input.Err()
}

func (p *program) follow(resource schema.GroupVersionResource, informer cache.SharedIndexInformer) error {
	p.stores[resource] = informer.GetStore()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { p.record(resource, object) },
		UpdateFunc: func(_, object any) { p.record(resource, object) },
	})
	return err
}

// missed waits for the events of all versions in the file.
func (p *program) missed(file string, limit time.Duration) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	left := strings.Split(strings.TrimSpace(string(text)), "\n")
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		left = p.unseen(left)
		if len(left) == 0 {
			return "missed 0"
		}
		if time.Now().After(deadline) {
			return fmt.Sprintf("missed %d %s", len(left), left[0])
		}
	}
}

func (p *program) unseen(ids []string) []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.DeleteFunc(ids, func(id string) bool {
		_, ok := p.seen[id]
		return ok
	})
}

// counter counts requests that fill a cache: first pages of lists, and watches with initial events.
type counter struct {
	next  http.RoundTripper
	fills *atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	query := request.URL.Query()
	isFill := query.Get("watch") == "" && query.Get("continue") == "" || query.Get("sendInitialEvents") == "true"
	if err == nil && response.StatusCode == http.StatusOK && isFill {
		c.fills.Add(1)
	}
	return response, err
}

func (p *program) record(resource schema.GroupVersionResource, object any) {
	meta := object.(metav1.Object)
	id := fmt.Sprintf("%s %s %s %s", resource.Resource, keyOf(meta), meta.GetUID(), meta.GetResourceVersion())
	text, err := json.Marshal(object.(runtime.Object))
	if err != nil {
		fail("%s: %v", id, err)
	}
	digest := sha256.Sum256(text)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if before, ok := p.seen[id]; ok && before != digest {
		fail("%s appeared twice with different contents", id)
	}
	p.seen[id] = digest
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func keyOf(meta metav1.Object) string { return meta.GetNamespace() + "/" + meta.GetName() }

func versionOf(meta metav1.Object) string {
	return string(meta.GetUID()) + " " + meta.GetResourceVersion()
}

func (p *program) compare(ctx context.Context, limit time.Duration) string {
	deadline := time.Now().Add(limit)
	for {
		objects, difference := p.difference(ctx)
		if difference == "" {
			return fmt.Sprintf("same %d %d", objects, p.fills.Load()-int64(len(p.stores)))
		}
		if time.Now().After(deadline) {
			return "different: " + difference
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// difference compares all caches with lists. It returns "" if they are equal.
func (p *program) difference(ctx context.Context) (int, string) {
	objects := 0
	for resource, store := range p.stores {
		listed, err := p.list(ctx, resource)
		if err != nil {
			return 0, fmt.Sprintf("list of %s: %v", resource.Resource, err)
		}
		cached := map[string]string{}
		for _, object := range store.List() {
			meta := object.(metav1.Object)
			cached[keyOf(meta)] = versionOf(meta)
		}
		for key, version := range listed {
			if cached[key] != version {
				return 0, fmt.Sprintf("%s %s is %q, cached %q", resource.Resource, key, version, cached[key])
			}
		}
		if len(cached) != len(listed) {
			return 0, fmt.Sprintf("%d %s, cached %d", len(listed), resource.Resource, len(cached))
		}
		objects += len(listed)
	}
	return objects, ""
}

func (p *program) list(ctx context.Context, resource schema.GroupVersionResource) (map[string]string, error) {
	listed := map[string]string{}
	options := metav1.ListOptions{Limit: 500}
	for {
		page, err := p.client.Resource(resource).List(ctx, options)
		if err != nil {
			return nil, err
		}
		_ = page.EachListItem(func(object runtime.Object) error {
			meta := object.(*unstructured.Unstructured)
			listed[keyOf(meta)] = versionOf(meta)
			return nil
		})
		options.Continue = page.GetContinue()
		if options.Continue == "" {
			return listed, nil
		}
	}
}
