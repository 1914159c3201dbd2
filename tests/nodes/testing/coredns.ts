/** CoreDNS as the DNS server of a cluster. It uses the API of the cluster by the environment of its pod. */

import { imageName } from '../images/images.ts';

const namespace = 'kube-system';
const name = 'coredns';
const labels = { 'k8s-app': 'kube-dns' };

const corefile = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    cache 30
}
`;

/** `address`: of the Service, which the kubelets write into the pods. */
export const coredns = (address: string): object[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { Corefile: corefile } },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: 'kube-dns', labels },
    spec: {
      clusterIP: address,
      selector: labels,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          dnsPolicy: 'Default',
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name,
              image: imageName('coredns'),
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name } }],
        },
      },
    },
  },
];
