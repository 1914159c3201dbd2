/** Roles in the system namespaces. */

import type { RoleTable } from './notation.ts';

export const namespaceRoles: Readonly<Record<string, RoleTable>> = {
  'kube-public': {
    'system:controller:bootstrap-signer': ['read core: configmaps', 'update core: configmaps = cluster-info', 'events'],
  },
  'kube-system': {
    'extension-apiserver-authentication-reader': ['read core: configmaps = extension-apiserver-authentication'],
    'system::leader-locking-kube-controller-manager': [
      'read,create,update coordination.k8s.io: leases',
      'read,create,update coordination.k8s.io: leasecandidates',
    ],
    'system::leader-locking-kube-scheduler': [
      'read,create,update coordination.k8s.io: leases',
      'read,create,update coordination.k8s.io: leasecandidates',
    ],
    'system:controller:bootstrap-signer': ['read core: secrets'],
    'system:controller:cloud-provider': ['read,create core: configmaps'],
    'system:controller:token-cleaner': ['read,delete core: secrets', 'events'],
  },
};
