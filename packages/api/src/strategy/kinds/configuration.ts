/** Kinds that configure the API server and the cluster: mostly only rules for names and generations. */

import { isAbsent, objectAt, objectsAt, stringsAt } from '../../defaults/access.ts';
import type { KubeObject } from '../../object.ts';
import { nameIsPathSegment } from '../../validation/formats.ts';
import { canonicalIpErrors } from '../../validation/shared/ip.ts';
import { statusMetadata } from '../metadata.ts';
import type { KindRules, Now } from '../rules.ts';

const ofSpec = { first: 1, of: ['spec'] } as const;
const role: KindRules = { name: nameIsPathSegment, createsOnUpdate: true };
const policy: KindRules = { generation: ofSpec, needsResourceVersion: true };
const webhooks: KindRules = { generation: { first: 1, of: ['webhooks'] }, needsResourceVersion: true };

/** For newer kinds an update of the status keeps all metadata. */
const statusOnly = { statusKeeps: statusMetadata, statusResets: ['metadata', 'spec'] } as const;
const flowControl: KindRules = {
  generation: ofSpec,
  ...statusOnly,
  statusKeeps: [...statusMetadata, 'deletionGracePeriodSeconds'],
};

export const configurationRules: Readonly<Record<string, KindRules>> = {
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': { ...policy, ...statusOnly },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': policy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': policy,
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': policy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  // Its name is derived from its spec: validation checks both.
  'apiextensions.k8s.io/CustomResourceDefinition': {
    name: () => [],
    generation: ofSpec,
    needsResourceVersion: true,
    create: addStoredVersion,
    update: addStoredVersion,
  },
  'apiregistration.k8s.io/APIService': {
    name: nameIsPathSegment,
    needsResourceVersion: true,
    create: markLocalService,
    statusKeeps: ['labels', 'annotations', 'finalizers', 'ownerReferences'],
    statusResets: ['spec', 'metadata'],
  },
  'coordination.k8s.io/Lease': {
    createsOnUpdate: true,
    needsResourceVersion: true,
    create: (object) => dropElection(object, undefined),
    update: dropElection,
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': flowControl,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': flowControl,
  'networking.k8s.io/Ingress': { generation: ofSpec },
  'networking.k8s.io/IngressClass': { generation: ofSpec },
  'networking.k8s.io/IPAddress': { name: (name) => canonicalIpErrors('', name).map(({ detail }) => detail) },
  'networking.k8s.io/NetworkPolicy': { generation: ofSpec },
  'networking.k8s.io/ServiceCIDR': statusOnly,
  'node.k8s.io/RuntimeClass': { createsOnUpdate: true, needsResourceVersion: true },
  'policy/PodDisruptionBudget': { name: nameIsPathSegment, generation: ofSpec, needsResourceVersion: true },
  'rbac.authorization.k8s.io/ClusterRole': role,
  'rbac.authorization.k8s.io/ClusterRoleBinding': role,
  'rbac.authorization.k8s.io/Role': role,
  'rbac.authorization.k8s.io/RoleBinding': role,
  // Only its description may change, so its generation stays.
  'scheduling.k8s.io/PriorityClass': { generation: { first: 1, of: [] } },
};

/** Adds the current storage version to the stored versions. */
function addStoredVersion(object: KubeObject): void {
  const stored = objectsAt(objectAt(object, 'spec'), 'versions').find((version) => version['storage'] === true);
  if (stored === undefined) return;
  const known = stringsAt(objectAt(object, 'status'), 'storedVersions');
  const name = String(stored['name']);
  // The old object's status must not be changed.
  if (!known.includes(name)) object['status'] = { ...objectAt(object, 'status'), storedVersions: [...known, name] };
}

/** Marks an API service that this server serves itself as available. */
function markLocalService(object: KubeObject, now: Now): void {
  if (objectAt(objectAt(object, 'spec'), 'service') !== undefined) return;
  object['status'] = {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: now(),
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  };
}

/** Coordinated leader election is off: its fields stay only if they were set. */
function dropElection(object: KubeObject, old: KubeObject | undefined): void {
  const spec = objectAt(object, 'spec');
  if (spec === undefined) return;
  const before = objectAt(old, 'spec');
  for (const name of ['strategy', 'preferredHolder']) if (isAbsent(before?.[name])) delete spec[name];
}
