/** The permissions that the operator requires, and no others: a test runs it with exactly these. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group as backupGroup } from '@hangar/backup-operator/api';
import { clusterApiGroup, group } from './api/index.ts';
import { certManagerGroup } from './cert-manager/kinds.ts';
import { gatewayGroup } from './gateway/kinds.ts';

/** On the management cluster, for all namespaces that have control planes. */
export const hostedRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['hostedcontrolplanes'], verbs: ['list', 'watch', 'patch'] },
  { apiGroups: [group], resources: ['hostedcontrolplanes/status'], verbs: ['patch'] },
  // Owning objects that block the deletion of their owner, where the server checks it (OwnerReferencesPermissionEnforcement).
  { apiGroups: [group], resources: ['hostedcontrolplanes/finalizers'], verbs: ['update'] },
  {
    apiGroups: [''],
    resources: ['secrets', 'configmaps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'patch', 'delete'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments', 'statefulsets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['networkpolicies'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
];

/** In addition, if Cluster API is installed. */
export const clusterApiRules: readonly PolicyRule[] = [
  { apiGroups: [clusterApiGroup], resources: ['clusters'], verbs: ['list', 'watch'] },
];

/** In addition, if the Gateway API is installed. */
export const gatewayRules: readonly PolicyRule[] = [
  { apiGroups: [gatewayGroup], resources: ['gateways'], verbs: ['get'] },
  { apiGroups: [gatewayGroup], resources: ['tlsroutes'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
];

/** In addition, if cert-manager is installed. */
export const certManagerRules: readonly PolicyRule[] = [
  {
    apiGroups: [certManagerGroup],
    resources: ['certificates', 'issuers'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  { apiGroups: [certManagerGroup], resources: ['issuers'], verbs: ['delete'] },
];

/**
 * In addition, if the kinds of backups are installed: those of schedules, restores and drills, besides those of the backup controllers; and a
 * backup before an upgrade of etcd, and its restore.
 */
export const hostedBackupRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['hostedcontrolplanes'], verbs: ['get', 'create', 'delete'] },
  { apiGroups: [''], resources: ['pods', 'persistentvolumeclaims'], verbs: ['create'] },
  {
    apiGroups: [backupGroup],
    resources: ['controlplanebackupschedules'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [backupGroup], resources: ['controlplanebackups'], verbs: ['get', 'create'] },
  { apiGroups: [backupGroup], resources: ['controlplanerestores'], verbs: ['create'] },
];

/** Of the front door instead of the operator, for all namespaces that have control planes. It only reads. */
export const frontDoorRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['hostedcontrolplanes'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
];

/** In the namespace of the lease, if several operators run. */
export const electionRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
