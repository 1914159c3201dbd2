## invalid pods
! kubectl create -f - <<'END'
apiVersion: v1
kind: Pod
metadata: { name: Bad_Name, labels: { 'not a key': x } }
spec: { containers: [] }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: Pod
metadata: { name: p }
spec:
  restartPolicy: Sometimes
  containers:
    - { name: c, image: nginx, imagePullPolicy: Maybe, ports: [{ containerPort: 99999 }], resources: { requests: { cpu: 2 }, limits: { cpu: 1 } } }
    - { name: c, image: nginx, volumeMounts: [{ name: nowhere, mountPath: /x }] }
END
! kubectl run Upper --image=nginx
! kubectl run p --image=' '

## invalid workloads
! kubectl create -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec:
  replicas: -1
  selector: { matchLabels: { app: a } }
  template:
    metadata: { labels: { app: b } }
    spec: { containers: [{ name: c, image: nginx }] }
END
! kubectl create -f - <<'END'
apiVersion: batch/v1
kind: CronJob
metadata: { name: this-name-is-much-too-long-for-a-cronjob-because-jobs-get-a-suffix }
spec:
  schedule: 'not a schedule'
  jobTemplate: { spec: { template: { spec: { containers: [{ name: c, image: nginx }] } } } }
END
! kubectl create -f - <<'END'
apiVersion: batch/v1
kind: Job
metadata: { name: j }
spec: { parallelism: -1, backoffLimit: -2, template: { spec: { restartPolicy: Always, containers: [{ name: c, image: nginx }] } } }
END
! kubectl create -f - <<'END'
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: s }
spec: { serviceName: '', template: { metadata: {}, spec: { containers: [{ name: c, image: nginx }] } } }
END
! kubectl create -f - <<'END'
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: h }
spec: { scaleTargetRef: { kind: Deployment, name: '' }, minReplicas: 5, maxReplicas: 1 }
END

## invalid services and configuration
! kubectl create -f - <<'END'
apiVersion: v1
kind: Service
metadata: { name: 1st }
spec: { type: Strange, ports: [{ port: 0 }, { port: 80, protocol: ICMP }], clusterIP: 300.1.1.1 }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c }
data: { 'bad key!': x }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: Secret
metadata: { name: s }
type: kubernetes.io/tls
data: {}
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: Secret
metadata: { name: s }
data: { a: 'not base64!' }
END
! kubectl create -f - <<'END'
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: i }
spec: { rules: [{ host: 'UPPER', http: { paths: [{ path: relative, pathType: Exact, backend: {} }] } }] }
END
! kubectl create -f - <<'END'
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: n }
spec: { podSelector: { matchExpressions: [{ key: a, operator: Perhaps }] }, policyTypes: [Sideways] }
END
! kubectl create -f - <<'END'
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: r }
roleRef: { kind: Nobody, name: '', apiGroup: x }
subjects: [{ kind: Alien, name: '' }]
END
! kubectl create -f - <<'END'
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: p }
spec: { minAvailable: 1, maxUnavailable: 120% }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: p }
spec: { accessModes: [Often], resources: { requests: { storage: -1 } } }
END
! kubectl create namespace Not_A_Name
! kubectl create quota q --hard=pods=many
! kubectl create priorityclass system-mine --value=1

## invalid custom resources
# A real server lists the causes in no order.
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: huge, color: TOO-LONG-AND-UPPER, replicas: 101, tags: [a, a], parts: [{ count: 1 }, { name: x }, { name: x }] }
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: small, min: 5, max: 1, replicas: 9, limit: 3 }
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: 5, replicas: many, painted: 'yes' }
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: small, template: { metadata: { labels: { a: 'not valid!' } } } }
END
kubectl create -f widget.yaml
! kubectl patch widget gear --type=merge -p '{"spec":{"serial":"b2"}}'

## wrong types and unreadable files
! kubectl create -f - <<'END'
apiVersion: v1
kind: Pod
metadata: { name: p }
spec: { containers: { name: c } }
END
! kubectl create --validate=ignore -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c, labels: [a, b] }
data: { n: 5 }
END
! kubectl create --validate=ignore -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec: { replicas: three }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: Nothing
metadata: { name: n }
END
! kubectl create -f - <<'END'
kind: ConfigMap
metadata: { name: n }
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {}
END
! kubectl create -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: n, namespace: other }
END
! kubectl create -n nowhere configmap n
! kubectl create -f nothing.yaml
! kubectl get configmaps -n nowhere nothing
kubectl get configmaps -n nowhere

## immutable fields
kubectl create -f deployment.yaml -f service.yaml -f pod.yaml
! kubectl patch deployment shop --type=merge -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'
! kubectl patch service shop -p '{"spec":{"clusterIP":"10.0.0.1"}}'
! kubectl patch pod web --type=json -p '[{"op":"replace","path":"/spec/containers/0/name","value":"other"}]'
! kubectl patch pod web --type=json -p '[{"op":"add","path":"/spec/containers/0/command","value":["x"]}]'
kubectl create configmap fixed --from-literal=a=1
kubectl patch configmap fixed -p '{"immutable":true}'
! kubectl patch configmap fixed -p '{"data":{"a":"2"}}'
! kubectl patch configmap fixed -p '{"immutable":false}'
kubectl create job once --image=busybox
! kubectl patch job once -p '{"spec":{"completions":5}}'
kubectl create -f - <<'END'
apiVersion: v1
kind: Secret
metadata: { name: typed }
type: example.com/one
END
! kubectl patch secret typed -p '{"type":"example.com/two"}'
kubectl create rolebinding rb --role=a --user=u
! kubectl patch rolebinding rb -p '{"roleRef":{"name":"b"}}'
! kubectl patch configmap fixed -p '{"metadata":{"name":"renamed"}}'
! kubectl patch configmap fixed -p '{"metadata":{"uid":"00000000-0000-0000-0000-000000000000"}}'

## stale and conflicting writes
kubectl create configmap c --from-literal=a=1
kubectl get configmap c -o yaml >stale.yaml
kubectl label configmap c x=y
! kubectl replace -f stale.yaml
! kubectl patch configmap c -p '{"metadata":{"resourceVersion":"1"}}'
! kubectl label configmap c x=z
! kubectl label configmap c x=z --resource-version=1 --overwrite

## unknown and duplicate fields
! kubectl create --validate=strict -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c, colour: red }
data: { a: '1' }
extra: { b: 2 }
END
kubectl create --validate=warn -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: warned, colour: red }
data: { a: '1' }
extra: { b: 2 }
END
kubectl create --validate=ignore -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: ignored, colour: red }
extra: { b: 2 }
END
! kubectl create --validate=strict -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec:
  replicas: 1
  replicas: 2
  selector: { matchLabels: { app: a } }
  template:
    metadata: { labels: { app: a } }
    spec: { containers: [{ name: c, image: nginx, imagge: x, ports: [{ containerPort: 80, prot: TCP }] }] }
END
kubectl create --validate=warn -f - <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: { name: d }
spec:
  selector: { matchLabels: { app: a } }
  template:
    metadata: { labels: { app: a } }
    spec: { containers: [{ name: c, image: nginx, imagge: x, ports: [{ containerPort: 80, prot: TCP }] }] }
END
! kubectl create --validate=strict -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w, colour: red }
spec: { size: small, extra: 1, parts: [{ name: a, more: 2 }] }
END
kubectl create --validate=warn -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: small, extra: 1, parts: [{ name: a, more: 2 }] }
END
! kubectl apply --server-side --validate=strict -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: w }
spec: { size: small, extra: 1 }
END
! kubectl apply --server-side -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c2 }
extra: 1
END
! kubectl patch --type=merge configmap warned -p '{"extra":1}' --validate=strict

## patches that cannot be applied
kubectl create configmap c --from-literal=a=1
! kubectl patch configmap c --type=json -p '[{"op":"test","path":"/data/a","value":"2"}]'
! kubectl patch configmap c --type=json -p '[{"op":"remove","path":"/data/none"}]'
! kubectl patch configmap c --type=json -p '[{"op":"jump","path":"/data/a"}]'
! kubectl patch configmap c --type=json -p '{"data":{}}'
! kubectl patch configmap c --type=merge -p '[1]'
# The message quotes the whole object, whose members are in no order.
! kubectl patch configmap c --type=merge -p '{"data":{"a":5}}' 2>&1 | sed 's/"{.*}"/<object>/'
! kubectl patch configmap c -p '{"data":"text"}'
! kubectl patch configmap c -p '{'
! kubectl patch configmap none -p '{"data":{"a":"2"}}'
kubectl create -f widget.yaml
! kubectl patch widget gear -p '{"spec":{"size":"small"}}'
! kubectl patch widget gear --type=merge -p '{"spec":{"size":"tiny"}}'
! kubectl patch widget gear --type=strategic -p '{"spec":{"size":"small"}}'
