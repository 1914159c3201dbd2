package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/ptr"
)

func init() {
	quantity := func(text string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(text)}
	}
	register(
		typedCheck("pods", func(s *server) typedClient[*corev1.Pod, *corev1.PodList] {
			return s.typed.CoreV1().Pods(s.namespace)
		}, newPod),
		typedCheck("configmaps", func(s *server) typedClient[*corev1.ConfigMap, *corev1.ConfigMapList] {
			return s.typed.CoreV1().ConfigMaps(s.namespace)
		}, func(name string) *corev1.ConfigMap {
			one := newConfigMap(name, map[string]string{"text": "größer"})
			one.BinaryData = map[string][]byte{"bytes": {0, 255}}
			return one
		}),
		typedCheck("secrets", func(s *server) typedClient[*corev1.Secret, *corev1.SecretList] {
			return s.typed.CoreV1().Secrets(s.namespace)
		}, func(name string) *corev1.Secret {
			return &corev1.Secret{ObjectMeta: named(name), Data: map[string][]byte{"key": {1, 2, 3}}}
		}),
		typedCheck("services", func(s *server) typedClient[*corev1.Service, *corev1.ServiceList] {
			return services{s.typed.CoreV1().Services(s.namespace), s}
		}, func(name string) *corev1.Service {
			ports := []corev1.ServicePort{{Name: "web", Port: 80, TargetPort: intstr.FromString("web")}}
			return &corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Ports: ports}}
		}),
		typedCheck("persistentvolumeclaims", func(s *server) typedClient[*corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaimList] {
			return s.typed.CoreV1().PersistentVolumeClaims(s.namespace)
		}, func(name string) *corev1.PersistentVolumeClaim {
			return &corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: quantity("1Gi")},
			}}
		}),
		typedCheck("nodes", func(s *server) typedClient[*corev1.Node, *corev1.NodeList] {
			return s.typed.CoreV1().Nodes()
		}, func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: named(name)} }),
		typedCheck("deployments", func(s *server) typedClient[*appsv1.Deployment, *appsv1.DeploymentList] {
			return s.typed.AppsV1().Deployments(s.namespace)
		}, func(name string) *appsv1.Deployment { return newDeployment(name, 3) }),
		typedCheck("statefulsets", func(s *server) typedClient[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
			return s.typed.AppsV1().StatefulSets(s.namespace)
		}, func(name string) *appsv1.StatefulSet {
			spec := appsv1.StatefulSetSpec{ServiceName: name, Selector: newSelector(name), Template: newPodTemplate(name)}
			return &appsv1.StatefulSet{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("daemonsets", func(s *server) typedClient[*appsv1.DaemonSet, *appsv1.DaemonSetList] {
			return s.typed.AppsV1().DaemonSets(s.namespace)
		}, func(name string) *appsv1.DaemonSet {
			spec := appsv1.DaemonSetSpec{Selector: newSelector(name), Template: newPodTemplate(name)}
			return &appsv1.DaemonSet{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("cronjobs", func(s *server) typedClient[*batchv1.CronJob, *batchv1.CronJobList] {
			return s.typed.BatchV1().CronJobs(s.namespace)
		}, func(name string) *batchv1.CronJob {
			template := newPodTemplate(name)
			template.Spec.RestartPolicy = corev1.RestartPolicyNever
			job := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}
			return &batchv1.CronJob{ObjectMeta: named(name), Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", JobTemplate: job}}
		}),
		typedCheck("leases", func(s *server) typedClient[*coordinationv1.Lease, *coordinationv1.LeaseList] {
			return s.typed.CoordinationV1().Leases(s.namespace)
		}, func(name string) *coordinationv1.Lease {
			spec := coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me"), RenewTime: &metav1.MicroTime{Time: metav1.Now().Rfc3339Copy().Time}}
			return &coordinationv1.Lease{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("ingresses", func(s *server) typedClient[*networkingv1.Ingress, *networkingv1.IngressList] {
			return s.typed.NetworkingV1().Ingresses(s.namespace)
		}, func(name string) *networkingv1.Ingress {
			backend := &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}}
			spec := networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: backend}}
			return &networkingv1.Ingress{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("endpointslices", func(s *server) typedClient[*discoveryv1.EndpointSlice, *discoveryv1.EndpointSliceList] {
			return s.typed.DiscoveryV1().EndpointSlices(s.namespace)
		}, func(name string) *discoveryv1.EndpointSlice {
			return &discoveryv1.EndpointSlice{
				ObjectMeta:  named(name),
				AddressType: discoveryv1.AddressTypeIPv4,
				Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}},
			}
		}),
		typedCheck("poddisruptionbudgets", func(s *server) typedClient[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
			return s.typed.PolicyV1().PodDisruptionBudgets(s.namespace)
		}, func(name string) *policyv1.PodDisruptionBudget {
			spec := policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromString("50%")), Selector: newSelector(name)}
			return &policyv1.PodDisruptionBudget{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("horizontalpodautoscalers", func(s *server) typedClient[*autoscalingv2.HorizontalPodAutoscaler, *autoscalingv2.HorizontalPodAutoscalerList] {
			return s.typed.AutoscalingV2().HorizontalPodAutoscalers(s.namespace)
		}, func(name string) *autoscalingv2.HorizontalPodAutoscaler {
			target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
			spec := autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 3}
			return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(name), Spec: spec}
		}),
		typedCheck("clusterroles", func(s *server) typedClient[*rbacv1.ClusterRole, *rbacv1.ClusterRoleList] {
			return s.typed.RbacV1().ClusterRoles()
		}, func(name string) *rbacv1.ClusterRole {
			rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
			return &rbacv1.ClusterRole{ObjectMeta: named(name), Rules: rules}
		}),
		typedCheck("storageclasses", func(s *server) typedClient[*storagev1.StorageClass, *storagev1.StorageClassList] {
			return s.typed.StorageV1().StorageClasses()
		}, func(name string) *storagev1.StorageClass {
			return &storagev1.StorageClass{ObjectMeta: named(name), Provisioner: "example.com/none"}
		}),
		typedCheck("priorityclasses", func(s *server) typedClient[*schedulingv1.PriorityClass, *schedulingv1.PriorityClassList] {
			return s.typed.SchedulingV1().PriorityClasses()
		}, func(name string) *schedulingv1.PriorityClass {
			return &schedulingv1.PriorityClass{ObjectMeta: named(name), Value: 7}
		}),
	)
}

// services adds the verb that the server has and the generated client has not.
type services struct {
	typedcorev1.ServiceInterface
	server *server
}

func (c services) DeleteCollection(ctx context.Context, options metav1.DeleteOptions, listOptions metav1.ListOptions) error {
	request := c.server.typed.CoreV1().RESTClient().Delete().Namespace(c.server.namespace).Resource("services")
	return request.VersionedParams(&listOptions, scheme.ParameterCodec).Body(&options).Do(ctx).Error()
}
