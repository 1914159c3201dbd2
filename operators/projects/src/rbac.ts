/**
 * The permissions that the operator requires on the management plane, and no others: a test runs it with exactly these. In the control
 * planes of projects it is an administrator.
 */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group as controlPlaneGroup } from '@hangar/controlplane-operator';
import { group } from './api/index.ts';

export const projectsOperatorRules: readonly PolicyRule[] = [
  {
    apiGroups: [group],
    resources: ['organizations', 'projects'],
    verbs: ['list', 'watch', 'patch'],
  },
  { apiGroups: [group], resources: ['organizationmemberships'], verbs: ['list', 'watch'] },
  {
    apiGroups: [group],
    resources: ['organizations/status', 'organizationmemberships/status', 'projects/status'],
    verbs: ['patch'],
  },
  // Owners that wait for the objects that they own: where the server requires it (OwnerReferencesPermissionEnforcement).
  { apiGroups: [group], resources: ['organizations/finalizers', 'projects/finalizers'], verbs: ['update'] },
  {
    apiGroups: [controlPlaneGroup],
    resources: ['controlplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch', 'create', 'delete'] },
  // Kubeconfigs of dedicated control planes.
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
];
