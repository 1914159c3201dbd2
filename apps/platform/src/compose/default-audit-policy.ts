/** The audit policy of services that need audit events, unless a policy is configured. */

/** Reads of the platform itself are not recorded; objects are, except for those with secrets. */
export const defaultAuditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ['/healthz*', '/livez*', '/readyz*', '/metrics', '/version*', '/openapi*', '/api', '/api/*', '/apis', '/apis/*', '/.well-known/*']
- level: None
  resources:
  - group: coordination.k8s.io
  - group: ''
    resources: [events]
  - group: events.k8s.io
- level: None
  verbs: [get, list, watch]
  users:
  - system:hangar:operator
  - system:hangar:controllers
  - system:hangar:platform
  - system:hangar:projects-operator
  - system:hangar:backup-operator
- level: Metadata
  resources:
  - group: ''
    resources: [secrets, configmaps, serviceaccounts/token]
  - group: authentication.k8s.io
  - group: authorization.k8s.io
  - group: tenancy.hangar.dev
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
`;
