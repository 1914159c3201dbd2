/** The permissions that the controllers of backups require, besides those of their targets: a test runs them with exactly these. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group } from './api/index.ts';

/** On the management cluster, for all namespaces that have backups. */
export const backupRules: readonly PolicyRule[] = [
  {
    apiGroups: [group],
    resources: ['controlplanebackups'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [group], resources: ['controlplanebackupschedules'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [group], resources: ['controlplanerestores'], verbs: ['list', 'watch'] },
  {
    apiGroups: [group],
    resources: ['controlplanebackups/status', 'controlplanebackupschedules/status', 'controlplanerestores/status'],
    verbs: ['patch'],
  },
  // Credentials of destinations and encryption keys. They are read by name and not cached.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
];

/** In the namespace of the lease, if several operators run. */
export const electionRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
