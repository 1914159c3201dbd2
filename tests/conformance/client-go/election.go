package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
)

func init() {
	register(
		check{"leader election: one of two leads, the other follows when it steps down", leaderElection},
		check{"events: recorder of core/v1 counts what repeats", coreEvents},
		check{"events: recorder of events.k8s.io/v1 makes a series", seriesEvents},
	)
}

// candidate takes part in an election until stop; leads tells its name each time it wins.
func candidate(ctx context.Context, s *server, name string, leads chan<- string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	lock := must(resourcelock.New(resourcelock.LeasesResourceLock, s.namespace, "election",
		s.typed.CoreV1(), s.typed.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name}))
	elector := must(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   2 * time.Second,
		RetryPeriod:     200 * time.Millisecond,
		ReleaseOnCancel: true,
		Name:            name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- name },
			OnStoppedLeading: func() {},
		},
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		elector.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func leaderElection(ctx context.Context, s *server) {
	leads := make(chan string, 4)
	stopFirst := candidate(ctx, s, "first", leads)
	equal(receive(ctx, leads, "the first leads"), "first", "leader")
	stopSecond := candidate(ctx, s, "second", leads)
	defer stopSecond()
	select {
	case leader := <-leads:
		fail("%s leads beside the first", leader)
	case <-time.After(time.Second):
	}
	lease := must(s.typed.CoordinationV1().Leases(s.namespace).Get(ctx, "election", metav1.GetOptions{}))
	equal(*lease.Spec.HolderIdentity, "first", "holder")
	stopFirst()
	equal(receive(ctx, leads, "the second leads"), "second", "leader")
	lease = must(s.typed.CoordinationV1().Leases(s.namespace).Get(ctx, "election", metav1.GetOptions{}))
	equal(*lease.Spec.LeaseTransitions, 1, "transitions")
}

func coreEvents(ctx context.Context, s *server) {
	pod := must(s.typed.CoreV1().Pods(s.namespace).Create(ctx, newPod("web"), metav1.CreateOptions{}))
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: s.typed.CoreV1().Events(s.namespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "check"})
	for range 3 {
		recorder.Eventf(pod, corev1.EventTypeWarning, "Repeated", "it happened to %s", pod.Name)
	}
	eventually(ctx, "one event with count 3", func() bool {
		list := must(s.typed.CoreV1().Events(s.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=web,reason=Repeated,type=Warning"}))
		return len(list.Items) == 1 && list.Items[0].Count == 3
	})
	found := must(s.typed.CoreV1().Events(s.namespace).SearchWithContext(ctx, scheme.Scheme, pod))
	equal(len(found.Items), 1, "events of the pod")
	equal(found.Items[0].InvolvedObject.UID, pod.UID, "uid of the involved object")
}

func seriesEvents(ctx context.Context, s *server) {
	pod := must(s.typed.CoreV1().Pods(s.namespace).Create(ctx, newPod("web"), metav1.CreateOptions{}))
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: s.typed.EventsV1()})
	defer broadcaster.Shutdown()
	ok(broadcaster.StartRecordingToSinkWithContext(ctx))
	recorder := broadcaster.NewRecorder(scheme.Scheme, "check")
	list := func() []eventsv1.Event {
		return must(s.typed.EventsV1().Events(s.namespace).List(ctx, metav1.ListOptions{})).Items
	}
	recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Repeated", "Checking", "first")
	eventually(ctx, "the first event", func() bool { return len(list()) == 1 })
	recorder.Eventf(pod, nil, corev1.EventTypeNormal, "Repeated", "Checking", "second")
	eventually(ctx, "a series of 2", func() bool {
		items := list()
		return len(items) == 1 && items[0].Series != nil && items[0].Series.Count >= 2
	})
	core := must(s.typed.CoreV1().Events(s.namespace).List(ctx, metav1.ListOptions{}))
	equal(len(core.Items), 1, "the same event in core/v1")
	equal(core.Items[0].ReportingController+" "+core.Items[0].Message, "check first", "the event in core/v1")
}
