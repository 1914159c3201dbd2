/**
 * The built-in addon `konnectivity-agent`: a DaemonSet of agents through which the server reaches kubelets, pods and services of nodes
 * behind NAT. Each agent connects to the port of the control plane and is the first choice for its own node.
 */

export interface KonnectivityAgentOptions {
  readonly image: string;
  /** URL of the port of the control plane. */
  readonly server: string;
}

export function konnectivityAgentManifests({ image, server }: KonnectivityAgentOptions): string {
  const { hostname, port } = new URL(server);
  return `
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: kube-system, name: konnectivity-agent }
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  namespace: kube-system
  name: konnectivity-agent
  labels: { k8s-app: konnectivity-agent }
spec:
  selector: { matchLabels: { k8s-app: konnectivity-agent } }
  updateStrategy: { type: RollingUpdate }
  template:
    metadata: { labels: { k8s-app: konnectivity-agent } }
    spec:
      serviceAccountName: konnectivity-agent
      priorityClassName: system-node-critical
      hostNetwork: true
      nodeSelector: { kubernetes.io/os: linux }
      tolerations:
      - { operator: Exists }
      containers:
      - name: konnectivity-agent
        image: ${JSON.stringify(image)}
        imagePullPolicy: IfNotPresent
        args:
        - --ca-cert=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt
        - --service-account-token-path=/var/run/secrets/tokens/konnectivity-agent-token
        - ${JSON.stringify(`--proxy-server-host=${hostname.replace(/^\[(.*)\]$/, '$1')}`)}
        - --proxy-server-port=${port || '443'}
        - --agent-id=$(NODE_NAME)
        - --agent-identifiers=host=$(NODE_NAME)&ipv4=$(HOST_IP)
        - --sync-forever
        env:
        - { name: NODE_NAME, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
        - { name: HOST_IP, valueFrom: { fieldRef: { fieldPath: status.hostIP } } }
        livenessProbe:
          httpGet: { path: /healthz, port: 8093 }
          initialDelaySeconds: 15
          timeoutSeconds: 15
        readinessProbe:
          httpGet: { path: /readyz, port: 8093 }
          timeoutSeconds: 15
        resources: { requests: { cpu: 20m, memory: 30Mi } }
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] }, readOnlyRootFilesystem: true }
        volumeMounts:
        - { name: konnectivity-agent-token, mountPath: /var/run/secrets/tokens, readOnly: true }
      volumes:
      - name: konnectivity-agent-token
        projected:
          sources:
          - serviceAccountToken: { path: konnectivity-agent-token, audience: "system:konnectivity-server" }
`;
}
