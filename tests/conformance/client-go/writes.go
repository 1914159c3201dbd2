package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

func init() {
	register(
		check{"writes: concurrent writers with RetryOnConflict lose no update", noLostUpdate},
		check{"writes: dry run leaves nothing", dryRun},
		check{"writes: preconditions", preconditions},
		check{"writes: deletion propagation and finalizers", deletionPropagation},
		check{"writes: generateName, immutable fields, causes of what is invalid", validation},
		check{"writes: warnings reach the client's handler", warnings},
		check{"reviews: token, self subject, access", reviews},
	)
}

func noLostUpdate(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	must(client.Create(ctx, newConfigMap("counter", map[string]string{"count": "0"}), metav1.CreateOptions{}))
	const writers, increments = 8, 10
	patient := wait.Backoff{Steps: 1000, Duration: 5 * time.Millisecond, Factor: 1, Jitter: 2}
	group, groupContext := errgroup.WithContext(ctx)
	for range writers {
		group.Go(func() error {
			for range increments {
				err := retry.RetryOnConflict(patient, func() error {
					one, err := client.Get(groupContext, "counter", metav1.GetOptions{})
					if err != nil {
						return err
					}
					count, err := strconv.Atoi(one.Data["count"])
					if err != nil {
						return err
					}
					one.Data["count"] = strconv.Itoa(count + 1)
					_, err = client.Update(groupContext, one, metav1.UpdateOptions{})
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	ok(group.Wait())
	equal(must(client.Get(ctx, "counter", metav1.GetOptions{})).Data["count"], strconv.Itoa(writers*increments), "count")
}

func dryRun(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	all := []string{metav1.DryRunAll}
	planned := must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{DryRun: all}))
	expect(planned.UID != "" && planned.ResourceVersion == "", "dry run create: uid %q, resourceVersion %q", planned.UID, planned.ResourceVersion)
	_, err := client.Get(ctx, "web", metav1.GetOptions{})
	expectReason(err, metav1.StatusReasonNotFound, "get after a dry run create")

	created := must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	changed := created.DeepCopy()
	changed.Data = map[string]string{"k": "v"}
	equal(must(client.Update(ctx, changed, metav1.UpdateOptions{DryRun: all})).Data, changed.Data, "dry run update")
	patch := []byte(`{"data":{"k":"w"}}`)
	equal(must(client.Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{DryRun: all})).Data["k"], "w", "dry run patch")
	ok(client.Delete(ctx, "web", metav1.DeleteOptions{DryRun: all}))
	equal(must(client.Get(ctx, "web", metav1.GetOptions{})), created, "the object after all dry runs")
	_, err = client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{DryRun: []string{"Some"}})
	expectReason(err, metav1.StatusReasonInvalid, "an unknown dryRun")
}

func preconditions(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	created := must(client.Create(ctx, newConfigMap("web", nil), metav1.CreateOptions{}))
	err := client.Delete(ctx, "web", *metav1.NewPreconditionDeleteOptions("other"))
	expectReason(err, metav1.StatusReasonConflict, "delete with another uid")
	err = client.Delete(ctx, "web", *metav1.NewRVDeletionPrecondition("1"))
	expectReason(err, metav1.StatusReasonConflict, "delete with another resourceVersion")
	_, err = client.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"}}`), metav1.PatchOptions{})
	expectReason(err, metav1.StatusReasonConflict, "patch with another resourceVersion")
	_, err = client.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"uid":"other"}}`), metav1.PatchOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "patch with another uid")
	foreign := created.DeepCopy()
	foreign.UID = "other"
	_, err = client.Update(ctx, foreign, metav1.UpdateOptions{})
	expectReason(err, metav1.StatusReasonConflict, "update with another uid")
	ok(client.Delete(ctx, "web", *metav1.NewRVDeletionPrecondition(created.ResourceVersion)))
}

func deletionPropagation(ctx context.Context, s *server) {
	client := s.typed.AppsV1().Deployments(s.namespace)
	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
		metav1.DeletePropagationBackground: "",
	} {
		must(client.Create(ctx, newDeployment("web", 1), metav1.CreateOptions{}))
		ok(client.Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(policy)}))
		one, err := client.Get(ctx, "web", metav1.GetOptions{})
		if finalizer == "" {
			expectReason(err, metav1.StatusReasonNotFound, "get after background deletion")
			continue
		}
		ok(err)
		equal(one.Finalizers, []string{finalizer}, string(policy))
		expect(one.DeletionTimestamp != nil, "%s: no deletionTimestamp", policy)
		one.Finalizers = append(one.Finalizers, "example.com/late")
		_, err = client.Update(ctx, one, metav1.UpdateOptions{})
		expect(apierrors.IsInvalid(err) || apierrors.IsForbidden(err), "a finalizer added during deletion: %v", err)
		// Nobody collects garbage here: the check does its part.
		must(client.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
		_, err = client.Get(ctx, "web", metav1.GetOptions{})
		expectReason(err, metav1.StatusReasonNotFound, string(policy)+": get after the last finalizer")
	}
}

func validation(ctx context.Context, s *server) {
	client := s.typed.CoreV1().ConfigMaps(s.namespace)
	generated := must(client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "some-"}}, metav1.CreateOptions{}))
	expect(len(generated.Name) == len("some-")+5, "generated name %q", generated.Name)
	generated.Immutable = ptr.To(true)
	generated = must(client.Update(ctx, generated, metav1.UpdateOptions{}))
	generated.Data = map[string]string{"k": "v"}
	_, err := client.Update(ctx, generated, metav1.UpdateOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "change of an immutable object")

	_, err = s.typed.CoreV1().Pods(s.namespace).Create(ctx, &corev1.Pod{ObjectMeta: named("Wrong_Name")}, metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "an invalid pod")
	var causes []string
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		causes = append(causes, cause.Field)
	}
	equal(causes, []string{"metadata.name", "spec.containers"}, "fields of the causes")
}

type warningRecorder struct{ texts []string }

func (r *warningRecorder) HandleWarningHeader(code int, _ string, text string) {
	r.texts = append(r.texts, fmt.Sprintf("%d %s", code, text))
}

func warnings(ctx context.Context, s *server) {
	recorder := &warningRecorder{}
	config := rest.CopyConfig(s.config)
	config.WarningHandler = recorder
	client := must(dynamic.NewForConfig(config)).Resource(configMaps).Namespace(s.namespace)
	misspelt := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "date": map[string]any{"k": "v"},
	}}
	must(client.Create(ctx, misspelt, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn}))
	equal(recorder.texts, []string{`299 unknown field "date"`}, "warnings")
}

func reviews(ctx context.Context, s *server) {
	self := must(s.typed.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))
	expect(self.Status.UserInfo.Username != "", "the server does not know who asks: %+v", self.Status)
	token := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "nobody's"}}
	review := must(s.typed.AuthenticationV1().TokenReviews().Create(ctx, token, metav1.CreateOptions{}))
	equal(review.Status.Authenticated, false, "authenticated with nobody's token")

	attributes := &authorizationv1.ResourceAttributes{Namespace: s.namespace, Verb: "create", Resource: "pods"}
	access := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
	answer := must(s.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, access, metav1.CreateOptions{}))
	equal(answer.Status.Allowed, true, "the administrator may create pods")
	subject := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: self.Status.UserInfo.Username, Groups: self.Status.UserInfo.Groups, ResourceAttributes: attributes,
	}}
	equal(must(s.typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, subject, metav1.CreateOptions{})).Status.Allowed, true, "somebody asks about the administrator")
	rules := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: s.namespace}}
	expect(len(must(s.typed.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, rules, metav1.CreateOptions{})).Status.ResourceRules) > 0, "no rules")
	_, err := s.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
	expectReason(err, metav1.StatusReasonInvalid, "a review of nothing")
}
