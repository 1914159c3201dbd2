/** The permissions that the target of backups requires, besides those of the operator of backups. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group } from '../api/index.ts';

/** On the management plane. */
export const backupTargetRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['controlplanes'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
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
