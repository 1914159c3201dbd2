/** Kinds of resources, for events without objects. */

import { objectOf, storable, stringOf } from '../events/event.ts';
import type { AuditEvent, EventRow } from '../events/event.ts';

const known = (
  'ConfigMap CronJob CustomResourceDefinition DaemonSet Deployment HorizontalPodAutoscaler Ingress Job Namespace NetworkPolicy Node ' +
  'PersistentVolume PersistentVolumeClaim Pod PodDisruptionBudget ReplicaSet ResourceQuota Role RoleBinding ClusterRole ClusterRoleBinding ' +
  'Secret Service ServiceAccount StatefulSet StorageClass APIService Project Organization OrganizationMembership ControlPlane'
).split(' ');

/** Plurals follow from kinds by the rules of English that Kubernetes uses. */
const pluralOf = (kind: string): string => {
  const lower = kind.toLowerCase();
  if (lower.endsWith('y')) return `${lower.slice(0, -1)}ies`;
  return lower.endsWith('s') ? `${lower}es` : `${lower}s`;
};

const byPlural = new Map(known.map((kind) => [pluralOf(kind), kind]));

/** Returns the kind of the changed object: from the objects of the event, by the name of the resource, or the resource itself. */
export function kindOf(event: AuditEvent, { resource, subresource }: EventRow): string {
  if (subresource === '') {
    for (const field of ['responseObject', 'requestObject']) {
      const kind = stringOf(objectOf(event[field])['kind']);
      if (kind !== '' && kind !== 'Status' && !kind.endsWith('Options') && !kind.endsWith('List'))
        return storable(kind);
    }
  }
  return byPlural.get(resource) ?? resource;
}
