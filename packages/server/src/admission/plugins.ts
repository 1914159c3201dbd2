/** The admission plugins of a control plane. Loaded with the first write. */

import { escalationCheck } from '../auth/authorization/rbac/escalation.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { AdmissionPlugin } from './admission.ts';
import { alwaysPullImages } from './builtin/always-pull-images.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './builtin/certificates.ts';
import { defaultIngressClass } from './builtin/default-ingress-class.ts';
import { defaultStorageClass } from './builtin/default-storage-class.ts';
import { defaultTolerationSeconds } from './builtin/default-toleration-seconds.ts';
import { deviceClaimCheck } from './builtin/device-claims.ts';
import { denyServiceExternalIps } from './builtin/deny-service-external-ips.ts';
import { extendedResourceToleration } from './builtin/extended-resource-toleration.ts';
import { limitRanger } from './builtin/limit-ranger/plugin.ts';
import { namespaceLifecycle } from './builtin/namespace-lifecycle.ts';
import { nodeRestriction } from './builtin/node-restriction/plugin.ts';
import { ownerReferencesPermissionEnforcement } from './builtin/owner-references.ts';
import { persistentVolumeClaimResize } from './builtin/persistent-volume-claim-resize.ts';
import { podResizeValidator } from './builtin/pod-resize.ts';
import { podSecurity } from './builtin/pod-security/plugin.ts';
import { podTopologyLabels } from './builtin/pod-topology-labels.ts';
import { priority } from './builtin/priority.ts';
import { resourceQuota } from './builtin/resource-quota/plugin.ts';
import { runtimeClass } from './builtin/runtime-class.ts';
import { serviceAccount } from './builtin/service-account/plugin.ts';
import { storageObjectInUseProtection } from './builtin/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './builtin/taint-nodes-by-condition.ts';
import type { PluginName } from './plugin-choice.ts';
import { mutatingAdmissionPolicy } from './policies/mutating/index.ts';
import { paramAccessCheck } from './policies/param-access.ts';
import { validatingAdmissionPolicy } from './policies/validating/index.ts';
import { mutatingWebhooks } from './webhooks/mutating.ts';
import { validatingWebhooks } from './webhooks/validating.ts';

type Make = (plane: ControlPlane) => AdmissionPlugin;

const always =
  (plugin: AdmissionPlugin): Make =>
  () =>
    plugin;

const makers: Readonly<Record<PluginName, Make>> = {
  NamespaceLifecycle: always(namespaceLifecycle),
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: always(taintNodesByCondition),
  AlwaysPullImages: always(alwaysPullImages),
  PodSecurity: podSecurity,
  Priority: priority,
  DefaultTolerationSeconds: () => defaultTolerationSeconds(),
  ExtendedResourceToleration: always(extendedResourceToleration),
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: always(storageObjectInUseProtection),
  OwnerReferencesPermissionEnforcement: always(ownerReferencesPermissionEnforcement),
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: always(certificateApproval),
  CertificateSigning: always(certificateSigning),
  ClusterTrustBundleAttest: always(clusterTrustBundleAttest),
  CertificateSubjectRestriction: always(certificateSubjectRestriction),
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: always(denyServiceExternalIps),
  PodTopologyLabels: podTopologyLabels,
  PodResizeValidator: podResizeValidator,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingWebhooks,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingWebhooks,
  ResourceQuota: resourceQuota,
};

export function admissionPlugins(plane: ControlPlane, chosen: readonly PluginName[]): AdmissionPlugin[] {
  const plugins = chosen.map((name) => makers[name](plane));
  // Validation in kube-apiserver, not plugins: they check the final roles, policies and claims, and are always on.
  return [...plugins, escalationCheck, paramAccessCheck, deviceClaimCheck];
}
