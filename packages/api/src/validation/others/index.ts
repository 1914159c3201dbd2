/**
 * The validation of all built-in kinds but pods, what contains pod templates, and CustomResourceDefinitions.
 *
 */

import type { KindValidations } from '../contract.ts';
import {
  mutatingPolicy,
  mutatingPolicyBinding,
  validatingPolicy,
  validatingPolicyBinding,
} from './admission-policies.ts';
import { apiService } from './api-service.ts';
import { certificateSigningRequest } from './certificate-signing-request.ts';
import { configMap } from './config-map.ts';
import { csiDriver, csiNode, csiStorageCapacity } from './csi.ts';
import { deviceClass, resourceClaim, resourceClaimTemplate } from './device-claim.ts';
import { endpointSlice } from './endpoint-slice.ts';
import { endpoints } from './endpoints.ts';
import { coreEvent, event } from './event.ts';
import { flowSchema, priorityLevelConfiguration } from './flow-control.ts';
import { horizontalPodAutoscaler, olderHorizontalPodAutoscaler } from './horizontal-pod-autoscaler.ts';
import { ingressClass } from './ingress-class.ts';
import { ingress } from './ingress.ts';
import { lease, leaseCandidate } from './lease.ts';
import { limitRange } from './limit-range.ts';
import { namespace } from './namespace.ts';
import { networkPolicy } from './network-policy.ts';
import { node } from './node.ts';
import { persistentVolumeClaim } from './persistent-volume-claim.ts';
import { persistentVolume } from './persistent-volume.ts';
import { podDisruptionBudget } from './pod-disruption-budget.ts';
import { priorityClass } from './priority-class.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac.ts';
import { resourceQuota } from './resource-quota.ts';
import { resourceSlice } from './resource-slice.ts';
import { localSubjectAccessReview, selfSubjectAccessReview, subjectAccessReview, tokenRequest } from './reviews.ts';
import { runtimeClass } from './runtime-class.ts';
import { binding, eviction, scale } from './scale.ts';
import { secret } from './secret.ts';
import { serviceAccount } from './service-account.ts';
import { ipAddress, serviceCidr } from './service-network.ts';
import { service } from './service.ts';
import { storageClass, volumeAttributesClass } from './storage-class.ts';
import { volumeAttachment } from './volume-attachment.ts';
import { mutatingWebhooks, validatingWebhooks } from './webhooks.ts';

export const otherValidations: KindValidations = {
  'v1/Binding': binding,
  'v1/ConfigMap': configMap,
  'v1/Endpoints': endpoints,
  'v1/Event': coreEvent,
  'v1/LimitRange': limitRange,
  'v1/Namespace': namespace,
  'v1/Node': node,
  'v1/PersistentVolume': persistentVolume,
  'v1/PersistentVolumeClaim': persistentVolumeClaim,
  'v1/ResourceQuota': resourceQuota,
  'v1/Secret': secret,
  'v1/Service': service,
  'v1/ServiceAccount': serviceAccount,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy': mutatingPolicy,
  'admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicy': mutatingPolicy,
  'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy': mutatingPolicy,
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding': mutatingPolicyBinding,
  'admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicyBinding': mutatingPolicyBinding,
  'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicyBinding': mutatingPolicyBinding,
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': mutatingWebhooks,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': validatingPolicy,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': validatingPolicyBinding,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': validatingWebhooks,
  'apiregistration.k8s.io/v1/APIService': apiService,
  'authentication.k8s.io/v1/TokenRequest': tokenRequest,
  'authorization.k8s.io/v1/LocalSubjectAccessReview': localSubjectAccessReview,
  'authorization.k8s.io/v1/SelfSubjectAccessReview': selfSubjectAccessReview,
  'authorization.k8s.io/v1/SubjectAccessReview': subjectAccessReview,
  'autoscaling/v1/HorizontalPodAutoscaler': olderHorizontalPodAutoscaler,
  'autoscaling/v1/Scale': scale,
  'autoscaling/v2/HorizontalPodAutoscaler': horizontalPodAutoscaler,
  'certificates.k8s.io/v1/CertificateSigningRequest': certificateSigningRequest,
  'coordination.k8s.io/v1/Lease': lease,
  'coordination.k8s.io/v1alpha2/LeaseCandidate': leaseCandidate,
  'coordination.k8s.io/v1beta1/LeaseCandidate': leaseCandidate,
  'discovery.k8s.io/v1/EndpointSlice': endpointSlice,
  'events.k8s.io/v1/Event': event,
  'flowcontrol.apiserver.k8s.io/v1/FlowSchema': flowSchema,
  'flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration': priorityLevelConfiguration,
  'networking.k8s.io/v1/IPAddress': ipAddress,
  'networking.k8s.io/v1/Ingress': ingress,
  'networking.k8s.io/v1/IngressClass': ingressClass,
  'networking.k8s.io/v1/NetworkPolicy': networkPolicy,
  'networking.k8s.io/v1/ServiceCIDR': serviceCidr,
  'networking.k8s.io/v1beta1/IPAddress': ipAddress,
  'networking.k8s.io/v1beta1/ServiceCIDR': serviceCidr,
  'node.k8s.io/v1/RuntimeClass': runtimeClass,
  'policy/v1/Eviction': eviction,
  'policy/v1/PodDisruptionBudget': podDisruptionBudget,
  'rbac.authorization.k8s.io/v1/ClusterRole': clusterRole,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': clusterRoleBinding,
  'rbac.authorization.k8s.io/v1/Role': role,
  'rbac.authorization.k8s.io/v1/RoleBinding': roleBinding,
  'resource.k8s.io/v1/DeviceClass': deviceClass,
  'resource.k8s.io/v1/ResourceClaim': resourceClaim,
  'resource.k8s.io/v1/ResourceClaimTemplate': resourceClaimTemplate,
  'resource.k8s.io/v1/ResourceSlice': resourceSlice,
  'resource.k8s.io/v1beta2/DeviceClass': deviceClass,
  'resource.k8s.io/v1beta2/ResourceClaim': resourceClaim,
  'resource.k8s.io/v1beta2/ResourceClaimTemplate': resourceClaimTemplate,
  'resource.k8s.io/v1beta2/ResourceSlice': resourceSlice,
  'scheduling.k8s.io/v1/PriorityClass': priorityClass,
  'storage.k8s.io/v1/CSIDriver': csiDriver,
  'storage.k8s.io/v1/CSINode': csiNode,
  'storage.k8s.io/v1/CSIStorageCapacity': csiStorageCapacity,
  'storage.k8s.io/v1/StorageClass': storageClass,
  'storage.k8s.io/v1/VolumeAttachment': volumeAttachment,
  'storage.k8s.io/v1/VolumeAttributesClass': volumeAttributesClass,
  'storage.k8s.io/v1beta1/VolumeAttributesClass': volumeAttributesClass,
};

export { clusterIpErrors } from './service-cluster-ips.ts';
