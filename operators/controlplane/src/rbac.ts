/**
 * The permissions that the operator requires, and no others: a test runs it with exactly these, and fails when one is missing or never
 * used.
 *
 * In tenants it is an administrator, as the host permits (`hostRules`); on the management plane it has access to no other kinds. Secrets
 * are wide because management namespaces come and go, and RBAC has no patterns; the cache of them is narrow.
 */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { group } from './api/index.ts';
import { hostedGroup } from './dedicated/hosted-control-plane.ts';
import { definitionName, gatewayGroup } from './gateway/tls-route.ts';

/** On the management plane, for all namespaces. */
export const operatorRules: readonly PolicyRule[] = [
  { apiGroups: [group], resources: ['controlplanes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [group], resources: ['controlplaneclasses'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [group],
    resources: ['controlplaneendpoints'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: [group],
    resources: ['controlplaneregistrations'],
    verbs: ['list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: [group],
    resources: [
      'controlplanes/status',
      'controlplaneclasses/status',
      'controlplaneendpoints/status',
      'controlplaneregistrations/status',
    ],
    verbs: ['patch'],
  },
  // Owning something whose owner waits for it: where the server insists (OwnerReferencesPermissionEnforcement).
  {
    apiGroups: [group],
    resources: ['controlplanes/finalizers', 'controlplaneregistrations/finalizers'],
    verbs: ['update'],
  },
  {
    apiGroups: [''],
    resources: ['namespaces', 'secrets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  // The heartbeats of controller managers, in whichever namespace these keep them.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list', 'watch'] },
  // Whether there is a Gateway API: of all definitions this one.
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: [definitionName],
    verbs: ['list', 'watch'],
  },
  { apiGroups: [gatewayGroup], resources: ['tlsroutes'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  // Dedicated control planes, where the management plane serves these kinds.
  {
    apiGroups: [hostedGroup],
    resources: ['hostedcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [hostedGroup], resources: ['hostedcontrolplanetemplates'], verbs: ['list', 'watch'] },
];

/** On the Hangar whose tenants virtual control planes are. */
export const hostRules: readonly PolicyRule[] = [
  {
    apiGroups: ['tenancy.hangar.dev'],
    resources: ['tenants'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: ['tenancy.hangar.dev'], resources: ['tenants/kubeconfig'], verbs: ['create'] },
  // Measurements for promotion.
  { apiGroups: ['tenancy.hangar.dev'], resources: ['tenants/usage'], verbs: ['get'] },
];

/** On the management plane, in the namespace of the lease, when there are several operators. */
export const electionRules: readonly PolicyRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];
