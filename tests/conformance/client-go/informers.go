package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// With KUBE_FEATURE_WatchListClient=false the same checks show informers that list first.
func init() {
	register(
		check{"informers: 200 objects in three kinds of client, caches equal the list", informersConverge},
		check{"informers: go on after the connection was cut, missing nothing", informersResume},
		check{"informers: indexers, selectors and several kinds in one factory", informersFactory},
	)
}

// expectStart says that informers began the way the feature gate asks for.
func expectStart(s *server) {
	streams := s.traffic.count(func(e exchange) bool { return e.query.Get("sendInitialEvents") == "true" && e.status == 200 })
	lists := s.traffic.count(func(e exchange) bool {
		return e.method == "GET" && e.query.Get("resourceVersion") == "0" && !e.isWatch()
	})
	if features.FeatureGates().Enabled(features.WatchListClient) {
		expect(streams > 0 && lists == 0, "WatchList is on: %d streams, %d lists", streams, lists)
	} else {
		expect(streams == 0 && lists > 0, "WatchList is off: %d streams, %d lists", streams, lists)
	}
}

// churn creates 200 objects, changes a half of them and deletes a third, several at a time.
func churn(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for index := range 200 {
		group.Go(func() error {
			name := fmt.Sprintf("item-%03d", index)
			one, err := client.Create(ctx, newConfigMap(name, map[string]string{"round": "0"}), metav1.CreateOptions{})
			if err == nil && index%2 == 0 {
				one.Data["round"] = "1"
				_, err = client.Update(ctx, one, metav1.UpdateOptions{})
			}
			if err == nil && index%3 == 0 {
				err = client.Delete(ctx, name, metav1.DeleteOptions{})
			}
			return err
		})
	}
	ok(group.Wait())
}

func listVersions(ctx context.Context, s *server) map[string]string {
	versions := map[string]string{}
	for _, one := range must(s.typed.CoreV1().ConfigMaps(s.namespace).List(ctx, metav1.ListOptions{})).Items {
		versions[one.Name] = one.ResourceVersion
	}
	return versions
}

func storeVersions(store cache.Store) map[string]string {
	versions := map[string]string{}
	for _, one := range store.List() {
		object := one.(metav1.Object)
		versions[object.GetName()] = object.GetResourceVersion()
	}
	return versions
}

// ledger keeps what the handlers were told; told twice about a creation or never about a deletion is an error that a
// correct store would hide.
type ledger struct {
	mutex    sync.Mutex
	versions map[string]string
	problems []string
}

func (l *ledger) watch(informer cache.SharedIndexInformer) {
	l.versions = map[string]string{}
	note := func(change func(object metav1.Object)) func(any) {
		return func(one any) {
			l.mutex.Lock()
			defer l.mutex.Unlock()
			if tombstone, isTombstone := one.(cache.DeletedFinalStateUnknown); isTombstone {
				one = tombstone.Obj
			}
			change(one.(metav1.Object))
		}
	}
	added := note(func(one metav1.Object) {
		if _, known := l.versions[one.GetName()]; known {
			l.problems = append(l.problems, "added twice: "+one.GetName())
		}
		l.versions[one.GetName()] = one.GetResourceVersion()
	})
	updated := note(func(one metav1.Object) {
		if _, known := l.versions[one.GetName()]; !known {
			l.problems = append(l.problems, "updated before added: "+one.GetName())
		}
		l.versions[one.GetName()] = one.GetResourceVersion()
	})
	deleted := note(func(one metav1.Object) { delete(l.versions, one.GetName()) })
	must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    added,
		UpdateFunc: func(_, one any) { updated(one) },
		DeleteFunc: deleted,
	}))
}

func (l *ledger) snapshot() (map[string]string, []string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return maps.Clone(l.versions), l.problems
}

func expectConverged(ctx context.Context, s *server, name string, informer cache.SharedIndexInformer, told *ledger) {
	want := listVersions(ctx, s)
	deadline := time.Now().Add(15 * time.Second)
	for !maps.Equal(storeVersions(informer.GetStore()), want) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	equal(storeVersions(informer.GetStore()), want, name+": the store")
	eventually(ctx, name+": the handlers know what the store has", func() bool {
		versions, _ := told.snapshot()
		return maps.Equal(versions, want)
	})
	_, problems := told.snapshot()
	equal(problems, nil, name+": what the handlers were told")
}

func informersConverge(ctx context.Context, s *server) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	typed := informers.NewSharedInformerFactoryWithOptions(s.typed, 0, informers.WithNamespace(s.namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(s.dynamic, 0, s.namespace, nil)
	partial := metadatainformer.NewFilteredSharedInformerFactory(s.metadata(), 0, s.namespace, nil)
	all := map[string]cache.SharedIndexInformer{
		"typed":    typed.Core().V1().ConfigMaps().Informer(),
		"dynamic":  untyped.ForResource(configMaps).Informer(),
		"metadata": partial.ForResource(configMaps).Informer(),
	}
	ledgers := map[string]*ledger{}
	for name, informer := range all {
		ledgers[name] = &ledger{}
		ledgers[name].watch(informer)
	}
	typed.Start(ctx.Done())
	untyped.Start(ctx.Done())
	partial.Start(ctx.Done())
	churn(ctx, s)
	for name, informer := range all {
		expect(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "%s did not sync", name)
		expectConverged(ctx, s, name, informer, ledgers[name])
	}
	expectStart(s)
}

func informersResume(ctx context.Context, s *server) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config, proxy := throughProxy(s.config)
	defer proxy.close()
	distant := must(kubernetes.NewForConfig(protobuf(config)))
	typed := informers.NewSharedInformerFactoryWithOptions(distant, 0, informers.WithNamespace(s.namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(must(dynamic.NewForConfig(config)), 0, s.namespace, nil)
	partial := metadatainformer.NewFilteredSharedInformerFactory(must(metadata.NewForConfig(config)), 0, s.namespace, nil)
	all := map[string]cache.SharedIndexInformer{
		"typed":    typed.Core().V1().ConfigMaps().Informer(),
		"dynamic":  untyped.ForResource(configMaps).Informer(),
		"metadata": partial.ForResource(configMaps).Informer(),
	}
	ledgers := map[string]*ledger{}
	for name, informer := range all {
		ledgers[name] = &ledger{}
		ledgers[name].watch(informer)
		go informer.RunWithContext(ctx)
		expect(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "%s did not sync", name)
	}
	cuts, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for cuts.Err() == nil {
			time.Sleep(150 * time.Millisecond)
			proxy.cut()
		}
	}()
	churn(ctx, s)
	stop()
	for name, informer := range all {
		expectConverged(ctx, s, name, informer, ledgers[name])
	}
	expect(proxy.connections() > len(all), "the proxy saw only %d connections", proxy.connections())
}

func informersFactory(ctx context.Context, s *server) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	odd := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "parity!=even" })
	factory := informers.NewSharedInformerFactoryWithOptions(s.typed, 0, informers.WithNamespace(s.namespace), odd)
	maps, pods := factory.Core().V1().ConfigMaps(), factory.Core().V1().Pods()
	services, leases := factory.Core().V1().Services(), factory.Coordination().V1().Leases()
	const byParity = "parity"
	ok(maps.Informer().AddIndexers(cache.Indexers{byParity: func(one any) ([]string, error) {
		return []string{one.(*corev1.ConfigMap).Labels["parity"]}, nil
	}}))
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), services.Informer(), leases.Informer()} {
		ok(informer.SetTransform(func(one any) (any, error) {
			one.(metav1.Object).SetManagedFields(nil)
			return one, nil
		}))
	}
	createConfigMaps(ctx, s, 6)
	must(s.typed.CoreV1().Pods(s.namespace).Create(ctx, newPod("web"), metav1.CreateOptions{}))
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		expect(synced, "%s did not sync", kind)
	}
	equal(len(must(maps.Informer().GetIndexer().ByIndex(byParity, "odd"))), 3, "odd configmaps by index")
	equal(len(must(maps.Informer().GetIndexer().ByIndex(byParity, "even"))), 0, "even configmaps, which the selector leaves out")
	pod := must(pods.Lister().Pods(s.namespace).Get("web"))
	equal(len(pod.ManagedFields), 0, "managedFields after the transform")
	expectStart(s)
	cancel()
	factory.Shutdown()
}
