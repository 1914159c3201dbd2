/**
 * The built-in addon `kube-proxy`: a DaemonSet that makes the cluster IPs of services reachable on every node, with the objects and names of
 * a cluster that kubeadm created. kube-proxy connects to the port of the control plane, because it implements the service network itself.
 */

import type { ControlPlaneClassSpec } from '../api/index.ts';

export interface KubeProxyOptions {
  readonly image: string;
  readonly settings: ControlPlaneClassSpec['kubeProxy'];
  /** URL of the port of the control plane. */
  readonly server: string;
}

export const kubeProxyManifests = ({ image, server, settings = {} }: KubeProxyOptions): string => `
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: kube-system, name: kube-proxy }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: "kubeadm:node-proxier" }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:node-proxier" }
subjects:
- { kind: ServiceAccount, namespace: kube-system, name: kube-proxy }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { namespace: kube-system, name: kube-proxy }
rules:
- { apiGroups: [""], resources: [configmaps], resourceNames: [kube-proxy], verbs: [get] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { namespace: kube-system, name: kube-proxy }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: kube-proxy }
subjects:
- { apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:bootstrappers:kubeadm:default-node-token" }
---
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: kube-system
  name: kube-proxy
  labels: { app: kube-proxy }
data:
  kubeconfig.conf: |
    apiVersion: v1
    kind: Config
    clusters:
    - name: default
      cluster:
        certificate-authority: /var/run/secrets/kubernetes.io/serviceaccount/ca.crt
        server: ${server}
    users:
    - name: default
      user:
        tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
    contexts:
    - name: default
      context: { cluster: default, namespace: default, user: default }
    current-context: default
  config.conf: |
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    bindAddress: 0.0.0.0
    clientConnection:
      kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
    mode: ${JSON.stringify(settings.mode ?? '')}
    conntrack: ${JSON.stringify(settings.conntrack ?? {})}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  namespace: kube-system
  name: kube-proxy
  labels: { k8s-app: kube-proxy }
spec:
  selector: { matchLabels: { k8s-app: kube-proxy } }
  updateStrategy: { type: RollingUpdate }
  template:
    metadata: { labels: { k8s-app: kube-proxy } }
    spec:
      serviceAccountName: kube-proxy
      priorityClassName: system-node-critical
      hostNetwork: true
      nodeSelector: { kubernetes.io/os: linux }
      tolerations:
      - { operator: Exists }
      containers:
      - name: kube-proxy
        image: ${JSON.stringify(image)}
        imagePullPolicy: IfNotPresent
        command:
        - /usr/local/bin/kube-proxy
        - --config=/var/lib/kube-proxy/config.conf
        - --hostname-override=$(NODE_NAME)
        env:
        - { name: NODE_NAME, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
        securityContext: { privileged: true }
        volumeMounts:
        - { name: kube-proxy, mountPath: /var/lib/kube-proxy }
        - { name: xtables-lock, mountPath: /run/xtables.lock }
        - { name: lib-modules, mountPath: /lib/modules, readOnly: true }
      volumes:
      - { name: kube-proxy, configMap: { name: kube-proxy } }
      - { name: xtables-lock, hostPath: { path: /run/xtables.lock, type: FileOrCreate } }
      - { name: lib-modules, hostPath: { path: /lib/modules } }
`;
