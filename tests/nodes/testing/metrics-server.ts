/** metrics-server as the aggregated API `metrics.k8s.io` of a cluster. */

import { imageName } from '../images/images.ts';

const namespace = 'kube-system';
const name = 'metrics-server';
const labels = { 'k8s-app': name };
const port = 10250;
/** The CA that signs the serving certificates of kubelets in control planes of Hangar, in every pod. */
const clusterAuthority = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';

const role = (roleName: string, rules: readonly object[]): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules,
});

const subjects = [{ kind: 'ServiceAccount', namespace, name }];

const clusterBinding = (bindingName: string, roleName: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: bindingName },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
  subjects,
});

/** It verifies the certificates of kubelets. */
export const metricsServer = (): object[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
  role('system:metrics-server', [
    { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
    { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
  ]),
  clusterBinding('system:metrics-server', 'system:metrics-server'),
  clusterBinding('metrics-server:system:auth-delegator', 'system:auth-delegator'),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace, name: 'metrics-server-auth-reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'extension-apiserver-authentication-reader' },
    subjects,
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: { selector: labels, ports: [{ name: 'https', port: 443, targetPort: port }] },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name,
              image: imageName('metrics-server'),
              args: [
                '--cert-dir=/tmp',
                `--secure-port=${port}`,
                '--kubelet-preferred-address-types=InternalIP',
                '--kubelet-use-node-status-port',
                `--kubelet-certificate-authority=${clusterAuthority}`,
                // The shortest that it accepts. It must be longer than the timeout.
                '--metric-resolution=10s',
                '--kubelet-request-timeout=9s',
              ],
              readinessProbe: { httpGet: { path: '/readyz', port, scheme: 'HTTPS' }, periodSeconds: 1 },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { namespace, name },
      // It signs its certificate itself.
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  },
];
