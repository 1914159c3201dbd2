/** Nulls count as absent; empty texts and zeros have their meaning in Go. */

import { port } from './network.ts';
import { all, container, selector, specs, template } from './build.ts';
import { scaleTargetRef } from './scaling.ts';

export const nulls = [
  specs(
    'v1',
    'Pod',
    {
      containers: [
        {
          ...container,
          resources: null,
          ports: null,
          env: null,
          livenessProbe: null,
          imagePullPolicy: null,
          securityContext: null,
        },
      ],
      volumes: null,
      dnsPolicy: null,
      restartPolicy: '',
      securityContext: null,
      enableServiceLinks: null,
      terminationGracePeriodSeconds: null,
    },
    {
      containers: [{ ...container, resources: { limits: { cpu: 0, memory: '0' }, requests: null } }],
      enableServiceLinks: false,
    },
    {
      containers: [
        {
          ...container,
          livenessProbe: { exec: { command: ['x'] }, timeoutSeconds: 0, periodSeconds: 0 },
          image: 'a/b:latest',
        },
      ],
      volumes: [
        { name: 'v', emptyDir: null },
        { name: 'w', hostPath: { path: '/', type: null } },
      ],
    },
  ),
  all('apps/v1', 'Deployment', {
    metadata: { labels: null, annotations: { a: null } },
    spec: { selector, template, replicas: null, strategy: null, revisionHistoryLimit: 0 },
    status: null,
  }),
  all('v1', 'Secret', { data: null, stringData: null, type: '' }),
  all('v1', 'ConfigMap', { data: { a: null }, binaryData: null }),
  specs('v1', 'Service', {
    ports: [
      { ...port, targetPort: '' },
      { port: 81, targetPort: 0, name: 'x' },
    ].map((one, i) => ({ name: `p${i}`, ...one })),
    sessionAffinity: '',
  }),
  specs('autoscaling/v2', 'HorizontalPodAutoscaler', {
    scaleTargetRef,
    maxReplicas: 3,
    metrics: null,
    behavior: { scaleUp: null },
  }),
  specs('networking.k8s.io/v1', 'NetworkPolicy', {
    podSelector: {},
    policyTypes: null,
    egress: null,
    ingress: [{ ports: [{ port: 1, protocol: null }] }],
  }),
  all('storage.k8s.io/v1', 'StorageClass', {
    provisioner: 'example.com/p',
    reclaimPolicy: null,
    volumeBindingMode: null,
  }),
  all('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: { kind: 'Role', name: 'r', apiGroup: '' },
    subjects: null,
  }),
];
