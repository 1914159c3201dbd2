/**
 * The built-in addon `coredns`: DNS for pods, with the objects and names of a cluster that kubeadm created, because kubelets and tools
 * look for them.
 */

export interface CorednsOptions {
  readonly image: string;
  /** Cluster IP of the DNS service, which kubelets give to pods. */
  readonly dnsAddress: string;
}

export const corednsManifests = ({ image, dnsAddress }: CorednsOptions): string => `
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: kube-system, name: coredns }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: "system:coredns" }
rules:
- { apiGroups: [""], resources: [endpoints, services, pods, namespaces], verbs: [list, watch] }
- { apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: "system:coredns" }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:coredns" }
subjects:
- { kind: ServiceAccount, namespace: kube-system, name: coredns }
---
apiVersion: v1
kind: ConfigMap
metadata: { namespace: kube-system, name: coredns }
data:
  Corefile: |
    .:53 {
        errors
        health {
            lameduck 5s
        }
        ready
        kubernetes cluster.local in-addr.arpa ip6.arpa {
            pods insecure
            fallthrough in-addr.arpa ip6.arpa
            ttl 30
        }
        prometheus :9153
        forward . /etc/resolv.conf {
            max_concurrent 1000
        }
        cache 30 {
            disable success cluster.local
            disable denial cluster.local
        }
        loop
        reload
        loadbalance
    }
---
apiVersion: v1
kind: Service
metadata:
  namespace: kube-system
  name: kube-dns
  labels: { k8s-app: kube-dns, kubernetes.io/cluster-service: "true", kubernetes.io/name: CoreDNS }
  annotations: { prometheus.io/scrape: "true", prometheus.io/port: "9153" }
spec:
  clusterIP: ${JSON.stringify(dnsAddress)}
  selector: { k8s-app: kube-dns }
  ports:
  - { name: dns, protocol: UDP, port: 53, targetPort: 53 }
  - { name: dns-tcp, protocol: TCP, port: 53, targetPort: 53 }
  - { name: metrics, protocol: TCP, port: 9153, targetPort: 9153 }
---
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: kube-system
  name: coredns
  labels: { k8s-app: kube-dns }
spec:
  replicas: 2
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 1 } }
  selector: { matchLabels: { k8s-app: kube-dns } }
  template:
    metadata: { labels: { k8s-app: kube-dns } }
    spec:
      serviceAccountName: coredns
      priorityClassName: system-cluster-critical
      dnsPolicy: Default
      nodeSelector: { kubernetes.io/os: linux }
      tolerations:
      - { key: CriticalAddonsOnly, operator: Exists }
      - { key: node-role.kubernetes.io/control-plane, effect: NoSchedule }
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm:
              topologyKey: kubernetes.io/hostname
              labelSelector:
                matchExpressions: [{ key: k8s-app, operator: In, values: [kube-dns] }]
      containers:
      - name: coredns
        image: ${JSON.stringify(image)}
        imagePullPolicy: IfNotPresent
        args: ["-conf", /etc/coredns/Corefile]
        resources:
          limits: { memory: 170Mi }
          requests: { cpu: 100m, memory: 70Mi }
        ports:
        - { name: dns, containerPort: 53, protocol: UDP }
        - { name: dns-tcp, containerPort: 53, protocol: TCP }
        - { name: metrics, containerPort: 9153, protocol: TCP }
        - { name: liveness-probe, containerPort: 8080, protocol: TCP }
        - { name: readiness-probe, containerPort: 8181, protocol: TCP }
        livenessProbe:
          httpGet: { path: /health, port: liveness-probe, scheme: HTTP }
          initialDelaySeconds: 60
          timeoutSeconds: 5
          failureThreshold: 5
        readinessProbe:
          httpGet: { path: /ready, port: readiness-probe, scheme: HTTP }
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: { add: [NET_BIND_SERVICE], drop: [ALL] }
        volumeMounts:
        - { name: config-volume, mountPath: /etc/coredns, readOnly: true }
      volumes:
      - name: config-volume
        configMap: { name: coredns, items: [{ key: Corefile, path: Corefile }] }
`;
