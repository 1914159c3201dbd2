/** The plugins of a control plane, in the order in which they are asked: kube-apiserver's own. */

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
import { mutatingAdmissionPolicy } from './policies/mutating/index.ts';
import { paramAccessCheck } from './policies/param-access.ts';
import { validatingAdmissionPolicy } from './policies/validating/index.ts';
import { mutatingWebhooks } from './webhooks/mutating.ts';
import { validatingWebhooks } from './webhooks/validating.ts';

interface Available {
  readonly name: string;
  make(plane: ControlPlane): AdmissionPlugin;
  /** Only when it is asked for. */
  readonly isOff?: boolean;
}

const always = (plugin: AdmissionPlugin): Available => ({ name: plugin.name, make: () => plugin });

const available: readonly Available[] = [
  always(namespaceLifecycle),
  { name: 'LimitRanger', make: limitRanger },
  { name: 'ServiceAccount', make: serviceAccount },
  // Off in kube-apiserver, on in every cluster that kubeadm made: without it a node may write about others.
  { name: 'NodeRestriction', make: nodeRestriction },
  always(taintNodesByCondition),
  { ...always(alwaysPullImages), isOff: true },
  { name: 'PodSecurity', make: podSecurity },
  { name: 'Priority', make: priority },
  { name: 'DefaultTolerationSeconds', make: () => defaultTolerationSeconds() },
  { ...always(extendedResourceToleration), isOff: true },
  { name: 'DefaultStorageClass', make: defaultStorageClass },
  always(storageObjectInUseProtection),
  { ...always(ownerReferencesPermissionEnforcement), isOff: true },
  { name: 'PersistentVolumeClaimResize', make: persistentVolumeClaimResize },
  { name: 'RuntimeClass', make: runtimeClass },
  always(certificateApproval),
  always(certificateSigning),
  always(clusterTrustBundleAttest),
  always(certificateSubjectRestriction),
  { name: 'DefaultIngressClass', make: defaultIngressClass },
  { ...always(denyServiceExternalIps), isOff: true },
  { name: 'PodTopologyLabels', make: podTopologyLabels },
  { name: 'PodResizeValidator', make: podResizeValidator },
  { name: 'MutatingAdmissionPolicy', make: mutatingAdmissionPolicy },
  { name: 'MutatingAdmissionWebhook', make: mutatingWebhooks },
  { name: 'ValidatingAdmissionPolicy', make: validatingAdmissionPolicy },
  { name: 'ValidatingAdmissionWebhook', make: validatingWebhooks },
  { name: 'ResourceQuota', make: resourceQuota },
];

/** By the names that `--enable-admission-plugins` and `--disable-admission-plugins` take. */
export interface PluginChoice {
  readonly enabled?: readonly string[];
  readonly disabled?: readonly string[];
}

export const pluginNames: readonly string[] = available.map(({ name }) => name);

/** Throws for names that no plugin has, or that are in both lists: a typing error must not leave a rule out. */
export function checkPluginChoice({ enabled = [], disabled = [] }: PluginChoice): void {
  const unknown = [...enabled, ...disabled].find((name) => !pluginNames.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no admission plugin "${unknown}"; there are: ${pluginNames.toSorted().join(', ')}`);
  }
  const both = enabled.find((name) => disabled.includes(name));
  if (both !== undefined) throw new Error(`the admission plugin "${both}" is both enabled and disabled`);
}

export function admissionPlugins(plane: ControlPlane, choice: PluginChoice = {}): AdmissionPlugin[] {
  checkPluginChoice(choice);
  const { enabled = [], disabled = [] } = choice;
  const chosen = available
    .filter(({ name, isOff }) => !disabled.includes(name) && (!isOff || enabled.includes(name)))
    .map(({ make }) => make(plane));
  // No plugins of kube-apiserver's: they look at what all others made of roles, policies and claims, and are always on.
  return [...chosen, escalationCheck, paramAccessCheck, deviceClaimCheck];
}
