package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

func init() {
	register(
		check{"list: resourceVersion unset, 0, exact, not older than", listResourceVersions},
		check{"list: a resourceVersion of the future is answered with a retry", listFuture},
		check{"list: pages are one snapshot", listPages},
		check{"list: pager", listPager},
		check{"list: label and field selectors", listSelectors},
		check{"list: as a Table", listTable},
		check{"list: gzip for large answers", listGzip},
	)
}

func createConfigMaps(ctx context.Context, s *server, count int) []string {
	var names []string
	for index := range count {
		name := fmt.Sprintf("item-%03d", index)
		one := newConfigMap(name, map[string]string{"index": strconv.Itoa(index)})
		one.Labels["parity"] = []string{"even", "odd"}[index%2]
		must(s.typed.CoreV1().ConfigMaps(s.namespace).Create(ctx, one, metav1.CreateOptions{}))
		names = append(names, name)
	}
	return names
}

func namesOf[O any](items []O, name func(*O) string) []string {
	names := []string{}
	for index := range items {
		names = append(names, name(&items[index]))
	}
	return names
}

func configMapNames(list *corev1.ConfigMapList) []string {
	return namesOf(list.Items, (*corev1.ConfigMap).GetName)
}

func listResourceVersions(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	list := func(options metav1.ListOptions) []string {
		return configMapNames(must(client.List(ctx, options)))
	}
	createConfigMaps(ctx, s, 2)
	past := must(client.List(ctx, metav1.ListOptions{}))
	must(client.Create(ctx, newConfigMap("late", nil), metav1.CreateOptions{}))
	all := []string{"item-000", "item-001", "late"}

	equal(list(metav1.ListOptions{}), all, "unset")
	equal(list(metav1.ListOptions{ResourceVersion: past.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}), all[:2], "exact")
	equal(list(metav1.ListOptions{ResourceVersion: past.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact, Limit: 1}), all[:1], "exact with a limit")
	now := must(client.List(ctx, metav1.ListOptions{})).ResourceVersion
	equal(list(metav1.ListOptions{ResourceVersion: now}), all, "not older, by default")
	equal(list(metav1.ListOptions{ResourceVersion: now, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}), all, "not older")
	// 0 allows any state: what can be said is that it is one of those that were.
	any := list(metav1.ListOptions{ResourceVersion: "0"})
	expect(len(any) <= 3 && slices.Equal(any, all[:len(any)]), "0: %v", any)
	equal(must(client.Get(ctx, "late", metav1.GetOptions{ResourceVersion: now})).Name, "late", "get, not older")

	for _, wrong := range []metav1.ListOptions{
		{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
		{ResourceVersion: now, ResourceVersionMatch: "Other"},
	} {
		_, err := client.List(ctx, wrong)
		expectReason(err, metav1.StatusReasonInvalid, fmt.Sprintf("%+v", wrong))
	}
	_, err := client.List(ctx, metav1.ListOptions{ResourceVersion: "abc"})
	expect(err != nil, "resourceVersion abc was accepted")
}

func listFuture(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	now := must(strconv.Atoi(must(client.List(ctx, metav1.ListOptions{})).ResourceVersion))
	// Without the client's own retries, which hide the answer for most of a minute.
	list := func(version int) (*corev1.ConfigMapList, error) {
		request := s.typed.CoreV1().RESTClient().Get().Namespace(s.namespace).Resource("configmaps").MaxRetries(0)
		result := &corev1.ConfigMapList{}
		return result, request.Param("resourceVersion", strconv.Itoa(version)).Do(ctx).Into(result)
	}
	_, err := list(now + 1_000_000)
	expectReason(err, metav1.StatusReasonTimeout, "list")
	expect(apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), "cause: %v", err)
	_, retry := apierrors.SuggestsClientDelay(err)
	expect(retry, "no Retry-After: %v", err)

	// The near future is waited for: a client may know of a write that this server has yet to see.
	latest := must(strconv.Atoi(must(client.List(ctx, metav1.ListOptions{})).ResourceVersion))
	time.AfterFunc(300*time.Millisecond, func() {
		for index := range 10 {
			client.Create(ctx, newConfigMap(fmt.Sprintf("future-%d", index), nil), metav1.CreateOptions{})
		}
	})
	must(list(latest + 5))
}

func listPages(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	names := createConfigMaps(ctx, s, 7)
	first := must(client.List(ctx, metav1.ListOptions{Limit: 3}))
	equal(configMapNames(first), names[:3], "first page")
	equal(*first.RemainingItemCount, 4, "remaining items")
	ok(client.Delete(ctx, names[5], metav1.DeleteOptions{}))
	must(client.Create(ctx, newConfigMap("zzz", nil), metav1.CreateOptions{}))

	second := must(client.List(ctx, metav1.ListOptions{Limit: 3, Continue: first.Continue}))
	equal(configMapNames(second), names[3:6], "second page, with what was deleted since")
	equal(second.ResourceVersion, first.ResourceVersion, "resourceVersion of the second page")
	third := must(client.List(ctx, metav1.ListOptions{Limit: 3, Continue: second.Continue}))
	equal(configMapNames(third), names[6:], "third page, without what was created since")
	equal(third.Continue, "", "continue of the last page")

	_, err := client.List(ctx, metav1.ListOptions{Limit: 3, Continue: "not a token"})
	expectReason(err, metav1.StatusReasonBadRequest, "a continue token that is none")
	_, err = client.List(ctx, metav1.ListOptions{Limit: 3, Continue: first.Continue, ResourceVersion: first.ResourceVersion})
	expect(err != nil, "resourceVersion beside continue was accepted")
	selected := must(client.List(ctx, metav1.ListOptions{Limit: 2, LabelSelector: "parity=odd"}))
	equal(configMapNames(selected), []string{names[1], names[3]}, "page of a selection")
	expect(selected.RemainingItemCount == nil, "remaining items of a selection: %v", selected.RemainingItemCount)
}

func listPager(ctx context.Context, s *server) {
	names := createConfigMaps(ctx, s, 10)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return s.typed.CoreV1().ConfigMaps(s.namespace).List(ctx, options)
	})
	pages.PageSize = 4
	before := len(s.traffic.all())
	list, paginated, err := pages.List(ctx, metav1.ListOptions{})
	ok(err)
	equal(paginated, true, "paginated")
	equal(meta.LenList(list), 10, "items")
	equal(len(s.traffic.all())-before, 3, "pages")
	var seen []string
	ok(pages.EachListItem(ctx, metav1.ListOptions{}, func(one runtime.Object) error {
		seen = append(seen, one.(*corev1.ConfigMap).Name)
		return nil
	}))
	equal(seen, names, "items one by one")
}

func listSelectors(ctx context.Context, s *server) {
	createConfigMaps(ctx, s, 4)
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	for selector, want := range map[string]string{
		"parity=odd":                        "item-001 item-003",
		"parity!=odd":                       "item-000 item-002",
		"parity in (odd,none),app!=x":       "item-001 item-003",
		"parity notin (odd)":                "item-000 item-002",
		"!parity":                           "",
		"parity,app in (item-000,item-001)": "item-000 item-001",
	} {
		must(labels.Parse(selector))
		got := configMapNames(must(client.List(ctx, metav1.ListOptions{LabelSelector: selector})))
		equal(strings.Join(got, " "), want, selector)
	}
	byName := fields.OneTermEqualSelector(metav1.ObjectNameField, "item-002").String()
	equal(configMapNames(must(client.List(ctx, metav1.ListOptions{FieldSelector: byName}))), []string{"item-002"}, byName)
	_, err := client.List(ctx, metav1.ListOptions{FieldSelector: "data.index=1"})
	expectReason(err, metav1.StatusReasonBadRequest, "field selector that the kind does not have")

	pods := s.typed.CoreV1().Pods(s.namespace)
	scheduled := newPod("scheduled")
	scheduled.Spec.NodeName = "node-1"
	must(pods.Create(ctx, scheduled, metav1.CreateOptions{}))
	must(pods.Create(ctx, newPod("pending"), metav1.CreateOptions{}))
	for selector, want := range map[string]string{
		"spec.nodeName=node-1":                  "scheduled",
		"spec.nodeName=":                        "pending",
		"status.phase=Pending,metadata.name!=x": "pending scheduled",
		"spec.restartPolicy!=Always":            "",
	} {
		got := must(pods.List(ctx, metav1.ListOptions{FieldSelector: selector}))
		equal(strings.Join(namesOf(got.Items, (*corev1.Pod).GetName), " "), want, selector)
	}
}

func listTable(ctx context.Context, s *server) {
	must(s.typed.CoreV1().Pods(s.namespace).Create(ctx, newPod("web"), metav1.CreateOptions{}))
	request := s.typed.CoreV1().RESTClient().Get().Namespace(s.namespace).Resource("pods").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	table := &metav1.Table{}
	ok(request.Do(ctx).Into(table))
	columns := namesOf(table.ColumnDefinitions, func(column *metav1.TableColumnDefinition) string { return column.Name })
	equal(columns[:5], []string{"Name", "Ready", "Status", "Restarts", "Age"}, "columns")
	equal(len(table.Rows), 1, "rows")
	equal(table.Rows[0].Cells[:4], []any{"web", "0/1", "Pending", "0"}, "cells")
	partial := &metav1.PartialObjectMetadata{}
	ok(json.Unmarshal(table.Rows[0].Object.Raw, partial))
	equal(partial.Name+" "+partial.Kind, "web PartialObjectMetadata", "object of the row")
}

func listGzip(ctx context.Context, s *server) {
	one := newConfigMap("large", map[string]string{"text": strings.Repeat("hangar ", 40_000)})
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	created := must(client.Create(ctx, one, metav1.CreateOptions{}))
	list := must(client.List(ctx, metav1.ListOptions{}))
	equal(list.Items[0].Data, created.Data, "data")
	path := "/api/v1/namespaces/" + url.PathEscape(s.namespace) + "/configmaps"
	compressed := s.traffic.count(func(e exchange) bool { return e.method == "GET" && strings.HasSuffix(e.path, path) && e.uncompressed })
	equal(compressed, 1, "lists that came compressed")
}
