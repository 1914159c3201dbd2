/** The permissions that the target of backups requires, besides those of the operator of backups. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group } from '../api/index.ts';
import { hostedGroup } from '../dedicated/hosted-control-plane.ts';

/** On the management plane. */
export const backupTargetRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['controlplanes'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  // With mode Dedicated: the namespace of a new control plane, and the record that lets it be adopted.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'create', 'delete'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'patch'] },
  { apiGroups: [hostedGroup], resources: ['hostedcontrolplanes'], verbs: ['get', 'patch'] },
];

/** On the Hangar whose tenants virtual control planes are. */
export const backupHostRules: readonly PolicyRule[] = [
  {
    apiGroups: ['tenancy.hangar.dev'],
    resources: ['tenants'],
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: ['tenancy.hangar.dev'],
    resources: ['tenants/backup', 'tenants/keys', 'tenants/replace', 'tenants/restore'],
    verbs: ['create'],
  },
];
