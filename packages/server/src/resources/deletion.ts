/** Deletion rules of built-in kinds. */

import { dependentsPolicy, podGracePeriodSeconds } from '@hangar/api';
import type { BuiltinResource, KubeObject } from '@hangar/api';
import type { DeletionRules } from './resource.ts';

/** Kinds whose deletion returns the object; all others return a Status. */
const returnsObject = new Set([
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourceslices.resource.k8s.io',
]);

const noGrace = (): undefined => undefined;
const notHeld = (): boolean => false;

const podsStay =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

export function deletionRulesOf(resource: BuiltinResource): DeletionRules {
  const { group, name } = resource;
  const id = group === '' ? name : `${name}.${group}`;
  const isNamespace = id === 'namespaces';
  return {
    returnsObject: returnsObject.has(id),
    dependents: dependentsPolicy(resource),
    graceSeconds: id === 'pods' ? podGracePeriodSeconds : noGrace,
    isHeld: isNamespace ? hasNamespaceFinalizers : notHeld,
    ...(isNamespace ? { onMark: terminateNamespace } : {}),
    ...(id === 'jobs.batch' ? { warning: podsStay } : {}),
  };
}

const hasNamespaceFinalizers = (namespace: KubeObject): boolean =>
  ((namespace['spec'] as { finalizers?: unknown[] } | undefined)?.finalizers?.length ?? 0) > 0;

/** Namespaces have a phase for termination, and no grace period. */
function terminateNamespace(namespace: KubeObject): void {
  delete namespace.metadata.deletionGracePeriodSeconds;
  namespace['status'] = { ...(namespace['status'] as object | undefined), phase: 'Terminating' };
}
