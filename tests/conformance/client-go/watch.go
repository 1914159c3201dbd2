package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
)

func init() {
	register(
		check{"watch: from a resourceVersion, from 0 and from now", watchStarts},
		check{"watch: a stream of initial events ends with its bookmark", watchInitialEvents},
		check{"watch: a selector turns changes into ADDED and DELETED", watchSelector},
		check{"watch: timeoutSeconds ends it, and sends a bookmark before", watchTimeout},
		check{"watch: an old resourceVersion gives the whole history or Expired", watchOld},
		check{"watch: from a resourceVersion of the future stays open and quiet", watchFuture},
		check{"watch: RetryWatcher goes on after the connection was cut", watchRetry},
		check{"watch: UntilWithSync and UntilWithoutRetry", watchUntil},
		check{"watch: 200 at once share a few HTTP/2 connections", watchMany},
	)
}

// expectEvents takes as many events as it is given names of, e.g. "ADDED web".
func expectEvents(ctx context.Context, watcher watch.Interface, want ...string) {
	for _, one := range want {
		event := receive(ctx, watcher.ResultChan(), one)
		object, isConfigMap := event.Object.(*corev1.ConfigMap)
		expect(isConfigMap, "want %s, got %s %v", one, event.Type, event.Object)
		equal(string(event.Type)+" "+object.Name, one, "event")
	}
}

func watchStarts(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	first := must(client.Create(ctx, newConfigMap("first", nil), metav1.CreateOptions{}))
	second := must(client.Create(ctx, newConfigMap("second", nil), metav1.CreateOptions{}))
	for version, want := range map[string][]string{
		first.ResourceVersion:  {"ADDED second", "ADDED third"},
		second.ResourceVersion: {"ADDED third"},
		"0":                    {"ADDED first", "ADDED second", "ADDED third"},
		"":                     {"ADDED first", "ADDED second", "ADDED third"},
	} {
		watcher := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: version}))
		defer watcher.Stop()
		defer expectEvents(ctx, watcher, want...)
	}
	must(client.Create(ctx, newConfigMap("third", nil), metav1.CreateOptions{}))
}

func watchInitialEvents(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	names := createConfigMaps(ctx, s, 3)
	options := metav1.ListOptions{
		SendInitialEvents:    ptr.To(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	}
	watcher := must(client.Watch(ctx, options))
	defer watcher.Stop()
	for _, name := range names {
		expectEvents(ctx, watcher, "ADDED "+name)
	}
	event := receive(ctx, watcher.ResultChan(), "bookmark")
	equal(event.Type, watch.Bookmark, "event after the initial ones")
	mark := event.Object.(*corev1.ConfigMap)
	equal(mark.Annotations[metav1.InitialEventsAnnotationKey], "true", "annotation of the bookmark")
	resumed := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: mark.ResourceVersion}))
	defer resumed.Stop()
	must(client.Create(ctx, newConfigMap("late", nil), metav1.CreateOptions{}))
	expectEvents(ctx, watcher, "ADDED late")
	expectEvents(ctx, resumed, "ADDED late")

	_, err := client.Watch(ctx, metav1.ListOptions{SendInitialEvents: ptr.To(true)})
	expectReason(err, metav1.StatusReasonInvalid, "sendInitialEvents without resourceVersionMatch")
}

func watchSelector(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	watcher := must(client.Watch(ctx, metav1.ListOptions{LabelSelector: "color=red"}))
	defer watcher.Stop()
	one := must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	for _, color := range []string{"red", "red", "blue", "red"} {
		one.Labels["color"] = color
		one.Annotations = map[string]string{"change": one.ResourceVersion}
		one = must(client.Update(ctx, one, metav1.UpdateOptions{}))
	}
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{}))
	expectEvents(ctx, watcher, "ADDED web", "MODIFIED web", "DELETED web", "ADDED web", "DELETED web")
}

func watchTimeout(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	created := must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	began := time.Now()
	options := metav1.ListOptions{ResourceVersion: created.ResourceVersion, TimeoutSeconds: ptr.To[int64](4), AllowWatchBookmarks: true}
	watcher := must(client.Watch(ctx, options))
	bookmarks := 0
	for event := range watcher.ResultChan() {
		equal(event.Type, watch.Bookmark, "event")
		mark := must(strconv.Atoi(event.Object.(*corev1.ConfigMap).ResourceVersion))
		expect(mark >= must(strconv.Atoi(created.ResourceVersion)), "a bookmark went back to %d", mark)
		bookmarks++
	}
	expect(bookmarks > 0, "no bookmark")
	took := time.Since(began)
	expect(took > 3*time.Second && took < 10*time.Second, "timeoutSeconds=4 took %s", took)
}

// watchOld: how long a server remembers is its own affair, but never may a client miss something without being told.
func watchOld(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	must(client.Update(ctx, newConfigMap("web", map[string]string{"k": "v"}), metav1.UpdateOptions{}))
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{}))
	watcher := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"}))
	defer watcher.Stop()
	event := receive(ctx, watcher.ResultChan(), "first event")
	if event.Type == watch.Error {
		expectExpired(apierrors.FromObject(event.Object))
	} else {
		equal(event.Type, watch.Added, "first event")
		expectEvents(ctx, watcher, "MODIFIED web", "DELETED web")
	}
	past, err := client.List(ctx, metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if err != nil {
		expectExpired(err)
	} else {
		equal(len(past.Items), 0, "objects before there were any")
	}
}

func expectExpired(err error) {
	expect(apierrors.IsResourceExpired(err) || apierrors.IsGone(err), "not expired: %v", err)
}

func watchFuture(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	now := must(strconv.Atoi(must(client.List(ctx, metav1.ListOptions{})).ResourceVersion))
	future := metav1.ListOptions{ResourceVersion: strconv.Itoa(now + 1_000_000), TimeoutSeconds: ptr.To[int64](2)}
	watcher := must(client.Watch(ctx, future))
	defer watcher.Stop()
	must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	for event := range watcher.ResultChan() {
		fail("an event of the past: %s %v", event.Type, event.Object)
	}
}

func watchRetry(ctx context.Context, s *server) {
	config, proxy := throughProxy(protobuf(s.config))
	defer proxy.close()
	distant := must(kubernetes.NewForConfig(config)).CoreV1().ConfigMaps(s.namespace)
	near := s.typed.CoreV1().ConfigMaps(s.namespace)
	start := must(near.List(ctx, metav1.ListOptions{})).ResourceVersion
	watcher := must(watchtools.NewRetryWatcherWithContext(ctx, start, &cache.ListWatch{
		WatchFuncWithContext: distant.Watch,
	}))
	defer watcher.Stop()
	for index := range 3 {
		name := fmt.Sprintf("web-%d", index)
		must(near.Create(ctx, newConfigMap(name, nil), metav1.CreateOptions{}))
		expectEvents(ctx, watcher, "ADDED "+name)
		proxy.cut()
		ok(near.Delete(ctx, name, metav1.DeleteOptions{}))
		expectEvents(ctx, watcher, "DELETED "+name)
	}
	expect(proxy.connections() > 3, "only %d connections", proxy.connections())
}

func watchUntil(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	go func() {
		time.Sleep(100 * time.Millisecond)
		client.Patch(ctx, "web", "application/merge-patch+json", []byte(`{"data":{"ready":"yes"}}`), metav1.PatchOptions{})
	}()
	byName := fields.OneTermEqualSelector(metav1.ObjectNameField, "web")
	lister := cache.NewListWatchFromClient(s.typed.CoreV1().RESTClient(), "configmaps", s.namespace, byName)
	ready := func(event watch.Event) (bool, error) {
		one, isConfigMap := event.Object.(*corev1.ConfigMap)
		return isConfigMap && one.Data["ready"] == "yes", nil
	}
	event := must(watchtools.UntilWithSync(ctx, lister, &corev1.ConfigMap{}, nil, ready))
	equal(event.Object.(*corev1.ConfigMap).Name, "web", "what became ready")
	watcher := must(client.Watch(ctx, metav1.ListOptions{}))
	equal(must(watchtools.UntilWithoutRetry(ctx, watcher, ready)).Type, watch.Added, "event of what was ready")
}

func watchMany(ctx context.Context, s *server) {
	const watchers = 200
	config, proxy := throughProxy(protobuf(s.config))
	defer proxy.close()
	client := must(kubernetes.NewForConfigAndClient(config, must(rest.HTTPClientFor(config)))).CoreV1().ConfigMaps(s.namespace)
	// An HTTP/1 client opens a connection for each; the first request decides which protocol it is.
	must(client.List(ctx, metav1.ListOptions{}))
	var open []watch.Interface
	for range watchers {
		watcher := must(client.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"}))
		defer watcher.Stop()
		open = append(open, watcher)
	}
	must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	must(client.Update(ctx, newConfigMap("web", map[string]string{"k": "v"}), metav1.UpdateOptions{}))
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{}))
	for _, watcher := range open {
		expectEvents(ctx, watcher, "ADDED web", "MODIFIED web", "DELETED web")
	}
	equal(s.traffic.count(func(e exchange) bool { return e.isWatch() && e.protocol == "HTTP/2.0" }), watchers, "watches over HTTP/2")
	// A server allows 100 streams or more on one.
	expect(proxy.connections() <= 4, "%d connections", proxy.connections())
}
