package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

func init() {
	register(
		check{"discovery: aggregated and legacy say the same", discoveryForms},
		check{"discovery: preferred resources, cached in memory and on disk", discoveryCaches},
		check{"discovery: version and health", discoveryVersion},
		check{"restmapper: kinds, resources, short names, scopes", restMapping},
		check{"openapi v3: every group version parses and is cached by its hash", openAPI},
		check{"openapi v2: protobuf document", openAPIV2},
		check{"scale client: get, update, patch through discovery", scaleClient},
	)
}

func discoveryForms(_ context.Context, s *server) {
	aggregated := must(discovery.NewDiscoveryClientForConfig(s.config))
	groups, resources, err := aggregated.ServerGroupsAndResources()
	ok(err)
	expect(s.traffic.count(func(e exchange) bool { return strings.Contains(e.answerType, "as=APIGroupDiscoveryList") }) >= 2,
		"the server has no aggregated discovery: %+v", s.traffic.all())

	legacy := must(discovery.NewDiscoveryClientForConfig(s.config))
	legacy.UseLegacyDiscovery = true
	legacyGroups, legacyResources, err := legacy.ServerGroupsAndResources()
	ok(err)
	names := func(groups []*metav1.APIGroup) (names []string) {
		for _, group := range groups {
			if isPassing(group.Name) {
				continue
			}
			for _, version := range group.Versions {
				names = append(names, version.GroupVersion+" preferred="+group.PreferredVersion.Version)
			}
		}
		return names
	}
	equal(names(groups), names(legacyGroups), "groups in their order")
	equal(flatten(resources), flatten(legacyResources), "resources")
}

// isPassing tells the groups of definitions that other checks, which run at the same time, make and remove.
func isPassing(group string) bool { return strings.HasSuffix(group, ".example.com") }

// flatten makes the two forms comparable: legacy discovery has no order inside a group version, and only the
// aggregated one names a subresource's singular.
func flatten(lists []*metav1.APIResourceList) []string {
	var lines []string
	for _, list := range lists {
		if group, _, _ := strings.Cut(list.GroupVersion, "/"); isPassing(group) {
			continue
		}
		for _, one := range list.APIResources {
			verbs := slices.Sorted(slices.Values(one.Verbs))
			shortNames := slices.Sorted(slices.Values(one.ShortNames))
			singular := one.SingularName
			if strings.Contains(one.Name, "/") {
				singular = ""
			}
			parts := []string{list.GroupVersion, one.Name, singular, one.Kind, strings.Join(verbs, ","),
				strings.Join(shortNames, ","), strings.Join(one.Categories, ",")}
			if one.Namespaced {
				parts = append(parts, "namespaced")
			}
			lines = append(lines, strings.Join(parts, " "))
		}
	}
	slices.Sort(lines)
	return lines
}

func discoveryCaches(_ context.Context, s *server) {
	direct := must(discovery.NewDiscoveryClientForConfig(s.config))
	preferred := must(direct.ServerPreferredResources())
	cached := memory.NewMemCacheClient(direct)
	equal(flatten(must(cached.ServerPreferredResources())), flatten(preferred), "preferred resources from memory")
	requests := len(s.traffic.all())
	must(cached.ServerPreferredResources())
	equal(len(s.traffic.all()), requests, "requests after a second question")
	expect(cached.Fresh(), "the cache is stale")

	namespaced := must(direct.ServerPreferredNamespacedResources())
	expect(len(namespaced) > 0 && len(namespaced) < len(preferred), "%d of %d lists are namespaced", len(namespaced), len(preferred))
	writable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"create", "list", "watch"}}, preferred)
	expect(len(writable) > 10, "%d group versions can be listed and watched", len(writable))

	folder := must(os.MkdirTemp("", "client-go-"))
	defer os.RemoveAll(folder)
	for range 2 {
		onDisk := must(disk.NewCachedDiscoveryClientForConfig(s.config, filepath.Join(folder, "discovery"), filepath.Join(folder, "http"), time.Hour))
		equal(flatten(must(onDisk.ServerPreferredResources())), flatten(preferred), "preferred resources from disk")
		onDisk.Invalidate()
		equal(flatten(must(onDisk.ServerPreferredResources())), flatten(preferred), "preferred resources by ETag")
	}
}

func discoveryVersion(ctx context.Context, s *server) {
	client := must(discovery.NewDiscoveryClientForConfig(s.config))
	version := must(client.ServerVersion())
	equal(version.Major+"."+version.Minor, "1.36", "version")
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		equal(string(must(client.RESTClient().Get().AbsPath(path).DoRaw(ctx))), "ok", path)
	}
	equal(must(discovery.IsResourceEnabled(client, deployments)), true, "deployments are served")
	equal(must(discovery.IsResourceEnabled(client, deployments.GroupResource().WithVersion("v9"))), false, "apps/v9 is served")
}

func (s *server) restMapper() meta.RESTMapper {
	cached := memory.NewMemCacheClient(must(discovery.NewDiscoveryClientForConfig(s.config)))
	return restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
}

func restMapping(_ context.Context, s *server) {
	mapper := s.restMapper()
	for _, want := range []struct {
		kind     schema.GroupKind
		resource string
		scope    meta.RESTScopeName
	}{
		{schema.GroupKind{Kind: "Pod"}, "v1 pods", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Kind: "Node"}, "v1 nodes", meta.RESTScopeNameRoot},
		{schema.GroupKind{Group: "apps", Kind: "Deployment"}, "apps/v1 deployments", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}, "networking.k8s.io/v1 networkpolicies", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, "autoscaling/v2 horizontalpodautoscalers", meta.RESTScopeNameNamespace},
		{schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, "rbac.authorization.k8s.io/v1 clusterroles", meta.RESTScopeNameRoot},
		{schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, "apiextensions.k8s.io/v1 customresourcedefinitions", meta.RESTScopeNameRoot},
	} {
		mapping := must(mapper.RESTMapping(want.kind))
		equal(mapping.Resource.GroupVersion().String()+" "+mapping.Resource.Resource, want.resource, "resource of "+want.kind.String())
		equal(mapping.Scope.Name(), want.scope, "scope of "+want.kind.String())
	}
	for short, want := range map[string]string{"deploy": "deployments", "po": "pods", "cm": "configmaps", "crd": "customresourcedefinitions", "hpa": "horizontalpodautoscalers", "netpol": "networkpolicies"} {
		equal(must(mapper.ResourceFor(schema.GroupVersionResource{Resource: short})).Resource, want, "short name "+short)
	}
	_, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Nothing"})
	expect(meta.IsNoMatchError(err), "a kind that does not exist: %v", err)
}

func openAPI(_ context.Context, s *server) {
	client := s.typed.Discovery().OpenAPIV3()
	root := openapi3.NewRoot(client)
	versions := must(root.GroupVersions())
	expect(len(versions) > 20, "only %d group versions", len(versions))
	for _, gv := range []schema.GroupVersion{{Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "coordination.k8s.io", Version: "v1"}} {
		spec := must(root.GVSpec(gv))
		expect(len(spec.Paths.Paths) > 0 && len(spec.Components.Schemas) > 0, "%s has no paths or no schemas", gv)
	}
	spec := must(root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"}))
	deployment := spec.Components.Schemas["io.k8s.api.apps.v1.Deployment"]
	expect(deployment != nil, "no schema of Deployment")
	_, hasKind := deployment.Extensions["x-kubernetes-group-version-kind"]
	expect(hasKind, "the schema of Deployment does not name its kind: %v", deployment.Extensions)
	_, err := root.GVSpec(schema.GroupVersion{Group: "none", Version: "v1"})
	var unknown *openapi3.GroupVersionNotFoundError
	expect(errors.As(err, &unknown), "a group that does not exist: %v", err)

	for path, gv := range must(client.Paths()) {
		expect(strings.Contains(gv.ServerRelativeURL(), "?hash="), "%s has no hash: %s", path, gv.ServerRelativeURL())
	}
}

func openAPIV2(_ context.Context, s *server) {
	document := must(s.typed.Discovery().OpenAPISchema())
	equal(document.Swagger, "2.0", "swagger")
	found := slices.ContainsFunc(document.Definitions.AdditionalProperties, func(one *openapi_v2.NamedSchema) bool {
		return one.Name == "io.k8s.api.core.v1.Pod"
	})
	expect(found, "no definition of Pod among %d", len(document.Definitions.AdditionalProperties))
}

func scaleClient(ctx context.Context, s *server) {
	must(s.typed.AppsV1().Deployments(s.namespace).Create(ctx, newDeployment("web", 2), metav1.CreateOptions{}))
	resolver := scale.NewDiscoveryScaleKindResolver(s.typed.Discovery())
	getter := must(scale.NewForConfig(s.config, s.restMapper(), dynamic.LegacyAPIPathResolverFunc, resolver))
	client := getter.Scales(s.namespace)

	got := must(client.Get(ctx, deployments.GroupResource(), "web", metav1.GetOptions{}))
	equal(got.Spec.Replicas, 2, "replicas")
	equal(got.Status.Selector, "app=web", "selector")
	got.Spec.Replicas = 5
	updated := must(client.Update(ctx, deployments.GroupResource(), got, metav1.UpdateOptions{}))
	equal(updated.Spec.Replicas, 5, "replicas after update")
	_, err := client.Update(ctx, deployments.GroupResource(), got, metav1.UpdateOptions{})
	expectReason(err, metav1.StatusReasonConflict, "update of an old scale")
	patched := must(client.Patch(ctx, deployments, "web", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{}))
	equal(patched.Spec.Replicas, 7, "replicas after patch")

	typed := must(s.typed.AppsV1().Deployments(s.namespace).GetScale(ctx, "web", metav1.GetOptions{}))
	equal(typed.Spec, autoscalingv1.ScaleSpec{Replicas: 7}, "scale through the typed client")
	equal(*must(s.typed.AppsV1().Deployments(s.namespace).Get(ctx, "web", metav1.GetOptions{})).Spec.Replicas, 7, "the deployment's replicas")
}
