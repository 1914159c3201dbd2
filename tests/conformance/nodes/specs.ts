/** All 446 [Conformance] specs: those that need running pods, from `specs.txt`, and the others, from `../e2e/specs.txt`. */

import { readFileSync } from 'node:fs';
import { allSpecs, parseSpecs } from '../e2e/specs.ts';
import type { Spec } from '../e2e/specs.ts';

export const conformanceSpecs = (): Spec[] => [
  ...allSpecs(),
  ...parseSpecs(readFileSync(new URL('specs.txt', import.meta.url), 'utf8')),
];

/** Specs that CI runs: at least one for each way from the API server to a node, and for each kind of workload. */
export const subset: readonly string[] = [
  // pods/log, also with options and through a WebSocket
  '[sig-cli] Kubectl logs logs should be able to retrieve and filter logs [Conformance]',
  '[sig-node] Kubelet when scheduling a busybox command in a pod should print the output to logs [NodeConformance] [Conformance]',
  '[sig-node] Pods should support retrieving logs from the container over websockets [NodeConformance] [Conformance]',
  // pods/exec and attach
  '[sig-node] Pods should support remote command execution over websockets [NodeConformance] [Conformance]',
  '[sig-node] KubeletManagedEtcHosts should test kubelet managed /etc/hosts file [NodeConformance] [Conformance]',
  '[sig-api-machinery] AdmissionWebhook [Privileged:ClusterAdmin] should be able to deny attaching pod [Conformance]',
  '[sig-node] Ephemeral Containers [NodeConformance] will start an ephemeral container in an existing pod [Conformance]',
  // pods/proxy, services/proxy and nodes/proxy
  '[sig-network] Proxy version v1 A set of valid responses are returned for both pod and service Proxy [Conformance]',
  '[sig-network] Proxy version v1 should proxy through a service and a pod [Conformance]',
  '[sig-cli] Kubectl client Update Demo should create and stop a replication controller [Conformance]',
  '[sig-node] Pods should be submitted and removed [NodeConformance] [Conformance]',
  // Services, DNS and the network of pods
  '[sig-network] Services should serve a basic endpoint from pods [Conformance]',
  '[sig-network] Services should be able to create a functioning NodePort service [Conformance]',
  '[sig-network] DNS should provide DNS for services [Conformance]',
  '[sig-network] DNS should provide DNS for the cluster [Conformance]',
  '[sig-network] Networking Granular Checks: Pods should function for intra-pod communication: http [NodeConformance] [Conformance]',
  // volumes and the environment
  '[sig-storage] Projected combined should project all components that make up the projection API [Projection] [NodeConformance] [Conformance]',
  '[sig-storage] EmptyDir volumes should support (non-root,0666,tmpfs) [LinuxOnly] [NodeConformance] [Conformance]',
  '[sig-storage] Secrets should be consumable from pods in volume [NodeConformance] [Conformance]',
  '[sig-node] ConfigMap should be consumable as environment variable names with various prefixes [Conformance]',
  '[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false [LinuxOnly] [NodeConformance] [Conformance]',
  // probes and hooks
  '[sig-node] Probing container should be restarted with a /healthz http liveness probe [NodeConformance] [Conformance]',
  '[sig-node] Container Lifecycle Hook when create a pod with lifecycle hook should execute prestop http hook properly [NodeConformance] [Conformance]',
  // workloads
  '[sig-apps] Deployment RollingUpdateDeployment should delete old pods and create new ones [Conformance]',
  '[sig-apps] StatefulSet Basic StatefulSet functionality [StatefulSetBasic] should have a working scale subresource [Conformance]',
  '[sig-apps] Job should create pods for an Indexed job with completion indexes and specified hostname [Conformance]',
  '[sig-apps] ReplicaSet should serve a basic image on each replica with a public image [Conformance]',
  // in-cluster access, webhooks and aggregated APIs in pods
  '[sig-auth] ServiceAccounts should mount an API token into pods [Conformance]',
  '[sig-auth] ServiceAccounts ServiceAccountIssuerDiscovery should support OIDC discovery of service account issuer [Conformance]',
  '[sig-api-machinery] AdmissionWebhook [Privileged:ClusterAdmin] should mutate configmap [Conformance]',
  '[sig-api-machinery] CustomResourceConversionWebhook [Privileged:ClusterAdmin] should be able to convert from CR v1 to CR v2 [Conformance]',
  '[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server using the current Aggregator [LinuxOnly] [Conformance]',
];
