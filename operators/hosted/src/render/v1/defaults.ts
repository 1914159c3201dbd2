/** Defaults of version 1 of the rendering. */

import type { ResourceRequirements } from '../../api/index.ts';
import { etcdClientPort, etcdPeerPort } from '../names.ts';
import type { Component } from '../names.ts';

export const registry = 'registry.k8s.io';

/**
 * Tag of the etcd image by the minor version of Kubernetes, as kubeadm has them. Only 3.5 is newer: from 3.5.26 on, members that were
 * removed or promoted stay so after an upgrade to 3.6.
 */
export const etcdTags: Readonly<Record<number, string>> = {
  33: '3.5.26-0',
  34: '3.6.5-0',
  35: '3.6.6-0',
  36: '3.6.8-0',
};

export const etcdVolumeSize = '8Gi';

export const resources: Readonly<Record<Component, ResourceRequirements>> = {
  etcd: { requests: { cpu: '100m', memory: '128Mi' } },
  'kube-apiserver': { requests: { cpu: '100m', memory: '384Mi' } },
  'kube-controller-manager': { requests: { cpu: '50m', memory: '96Mi' } },
  'kube-scheduler': { requests: { cpu: '50m', memory: '64Mi' } },
};

/** User and group of all processes. */
export const userId = 65_532;

export const ports = {
  etcdClient: etcdClientPort,
  etcdPeer: etcdPeerPort,
  etcdMetrics: 2381,
  controllerManager: 10_257,
  scheduler: 10_259,
  konnectivityAgents: 8132,
  konnectivityAdmin: 8133,
  konnectivityHealth: 8134,
};

export const folders = {
  pki: '/etc/kubernetes/pki',
  kubeconfigs: '/etc/kubernetes/kubeconfigs',
  audit: '/etc/kubernetes/audit',
  authentication: '/etc/kubernetes/authentication',
  egress: '/etc/kubernetes/egress',
  konnectivity: '/run/konnectivity',
  etcdData: '/var/lib/etcd',
} as const;

/** Images of konnectivity. Servers and agents of all versions work with all supported versions of Kubernetes. */
export const konnectivity = {
  server: 'kas-network-proxy/proxy-server',
  agent: 'kas-network-proxy/proxy-agent',
  tag: 'v0.36.0',
};

/** The image that sends audit events to several targets. */
export const auditProxy = { repository: 'nginxinc/nginx-unprivileged', registry: 'docker.io', tag: '1.29-alpine' };
