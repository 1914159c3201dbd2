/** Pods, and a pod spec that uses most fields with defaults. */

import { all, container, podSpec, selector } from './build.ts';
import type { Spec } from './build.ts';

const probes = {
  livenessProbe: { httpGet: { port: 80 } },
  readinessProbe: { grpc: { port: 80 }, periodSeconds: 3, timeoutSeconds: 2 },
  startupProbe: { tcpSocket: { port: 'web' }, failureThreshold: 9 },
  lifecycle: { postStart: { httpGet: { port: 1 } }, preStop: { sleep: { seconds: 1 } } },
};

const richPodSpec: Spec = {
  serviceAccount: 'builder',
  hostNetwork: true,
  automountServiceAccountToken: false,
  initContainers: [
    { name: 'i', image: 'registry.example/x/i:latest', resources: { limits: { cpu: '0.1234567' } } },
    { name: 's', image: 'i@sha256:' + 'a'.repeat(64), restartPolicy: 'Always', ports: [{ containerPort: 8081 }] },
  ],
  containers: [
    {
      name: 'c',
      image: 'localhost:5000/a/b:v1',
      command: ['x'],
      ports: [
        { containerPort: 80, name: 'web' },
        { containerPort: 53, protocol: 'UDP', hostPort: 53 },
      ],
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'B', value: '' },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      envFrom: [{ configMapRef: { name: 'x' } }],
      resources: { limits: { cpu: 1, memory: '1.5Gi', 'ephemeral-storage': '1G' }, requests: { cpu: '100u' } },
      ...probes,
      lifecycle: { ...probes.lifecycle, stopSignal: 'SIGTERM' },
      volumeMounts: [{ name: 'e', mountPath: '/e' }],
      securityContext: { runAsUser: 1, capabilities: { add: ['NET_ADMIN'] } },
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
    },
    { name: 'd', image: 'Bad:latest', imagePullPolicy: '', lifecycle: { stopSignal: 'SIGTERM' } },
  ],
  volumes: [
    { name: 'e' },
    { name: 's', secret: { secretName: 's' } },
    { name: 'cm', configMap: { name: 's', items: [{ key: 'a', path: 'b' }] } },
    { name: 'h', hostPath: { path: '/h' } },
    { name: 'd', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'p',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          { configMap: { name: 'x' } },
        ],
      },
    },
    {
      name: 'is',
      iscsi: { targetPortal: '1.2.3.4:3260', iqn: 'iqn.2001-04.com.example:storage.kube.sys1.xyz', lun: 0 },
    },
    { name: 'r', rbd: { monitors: ['m'], image: 'i' } },
    { name: 'az', azureDisk: { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' } },
    { name: 'sc', scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' }, volumeName: 'v' } },
    { name: 'im', image: { reference: 'x' } },
    {
      name: 'ep',
      ephemeral: {
        volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } } },
      },
    },
  ],
  tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'a', labelSelector: selector, matchLabelKeys: ['two'], mismatchLabelKeys: ['other', 'three'] },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'a', labelSelector: { matchLabels: { z: 'y' } } } },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, matchLabelKeys: ['two'] },
  ],
  schedulingGates: [{ name: 'example.com/gate' }],
  terminationGracePeriodSeconds: 5,
  dnsConfig: { options: [{ name: 'ndots', value: '5' }] },
  hostAliases: [{ ip: '127.0.0.1', hostnames: ['x'] }],
  overhead: undefined,
};
export const richTemplate = {
  metadata: { labels: { app: 'a', two: 'b' }, annotations: { 'pod.beta.kubernetes.io/init-containers': '[]', x: 'y' } },
  spec: { ...richPodSpec, schedulingGates: [] },
};

const resources = (limits?: Spec, requests?: Spec): Spec => ({
  containers: [{ ...container, resources: { limits, requests } }],
});

export const pods = all(
  'v1',
  'Pod',
  { spec: podSpec, status: { phase: 'Running', podIP: '1.2.3.4' } },
  {
    metadata: {
      labels: { app: 'a', two: 'b', three: 'c' },
      annotations: { 'pod.alpha.kubernetes.io/init-containers': 'x' },
      generation: 7,
    },
    spec: richPodSpec,
  },
  { spec: resources({ cpu: '1', memory: '1Gi' }) },
  { spec: resources({ cpu: '1', memory: '1Gi' }, { cpu: '500m', memory: '0.5Gi' }) },
  { spec: resources(undefined, { cpu: '0.5' }) },
  { spec: resources({ cpu: '1', memory: '1Gi', 'example.com/gpu': '2' }) },
  { spec: { ...podSpec, resources: { limits: { cpu: '2', memory: '2Gi' } } } },
  {
    spec: {
      resources: { limits: { cpu: '3' }, requests: {} },
      initContainers: [{ ...container, name: 'i', resources: { requests: { cpu: '700m', memory: '64Mi' } } }],
      containers: [
        { ...container, resources: { requests: { cpu: '250m' }, limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } } },
        { ...container, name: 'd', resources: { requests: { cpu: '0.25', memory: '100M' } } },
      ],
    },
  },
  {
    metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/p' } },
    spec: { ...podSpec, terminationGracePeriodSeconds: -3, restartPolicy: 'Never', hostPID: true, hostUsers: true },
  },
  {
    spec: {
      ...podSpec,
      volumes: [
        {
          name: 'c',
          projected: { sources: [{ clusterTrustBundle: { path: 'x', name: 'y' } }, { secret: { name: 's' } }] },
        },
      ],
    },
  },
);
