/** The rights that the client of a process runtime needs, as rules of a ClusterRole. */

import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';

export const processRuntimeRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['create', 'get', 'patch'] },
  { apiGroups: [''], resources: ['nodes/status', 'pods/status', 'services/status'], verbs: ['patch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['pods', 'services'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['delete'] },
  // Only objects that pods of the node refer to are read.
  { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims/status', 'persistentvolumes/status'], verbs: ['patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['create', 'get', 'patch', 'delete'] },
  // For the serving certificate of the kubelet API.
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
  { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    resourceNames: ['kubernetes.io/kubelet-serving'],
    verbs: ['approve'],
  },
  // For the clients of the kubelet API.
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];
