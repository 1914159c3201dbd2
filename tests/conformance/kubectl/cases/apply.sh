## created, unchanged, changed
kubectl apply -f deployment.yaml
kubectl apply -f deployment.yaml
sed 's/nginx:1.27/nginx:1.28/; s/replicas: 3/replicas: 5/; s/value: blue/value: red/' deployment.yaml >changed.yaml
kubectl apply -f changed.yaml
kubectl get deployment shop -o yaml --show-managed-fields
grep -v -e env: -e COLOR deployment.yaml >smaller.yaml
kubectl apply -f smaller.yaml
kubectl get deployment shop -o jsonpath='{.spec.template.spec.containers[0]}'
kubectl apply view-last-applied deployment/shop
kubectl apply view-last-applied deployment/shop -o json
kubectl apply set-last-applied -f deployment.yaml
kubectl apply view-last-applied -f deployment.yaml
KUBE_EDITOR='sed -i s/1.27/1.26/' kubectl apply edit-last-applied deployment/shop
kubectl get deployment shop -o yaml

## list maps merge by their keys
kubectl apply -f service.yaml
kubectl patch service shop -p '{"spec":{"ports":[{"name":"metrics","port":9090}]}}'
kubectl get service shop -o jsonpath='{.spec.ports[*].name}'
sed 's/targetPort: 8080/targetPort: 8081/' service.yaml | kubectl apply -f - -o yaml
kubectl apply -f pod.yaml
sed 's/nginx:1.27/nginx:1.28/' pod.yaml | kubectl apply -f -
kubectl get pod web -o yaml

## what was created without apply
kubectl create -f configmap.yaml
kubectl apply -f configmap.yaml
kubectl apply -f configmap.yaml
kubectl get configmap settings -o yaml
! kubectl apply view-last-applied configmap/nothing
kubectl create configmap other
kubectl apply view-last-applied configmap/other
! kubectl apply set-last-applied -f service.yaml

## a custom resource
kubectl apply -f widget.yaml
kubectl apply -f widget.yaml
sed 's/medium/large/; s/slow/fast/; /axle/d' widget.yaml | kubectl apply -f -
kubectl get widget gear -o yaml --show-managed-fields
sed 's/medium/huge/' widget.yaml >huge.yaml
! kubectl apply -f huge.yaml

## dry runs
kubectl apply -f configmap.yaml --dry-run=server
kubectl apply -f configmap.yaml --dry-run=client
kubectl apply -f configmap.yaml
sed 's/blue/red/' configmap.yaml | kubectl apply --dry-run=server -o yaml -f -
kubectl get configmap settings -o jsonpath='{.data.color}'

## server-side: created, unchanged, changed
kubectl apply --server-side -f deployment.yaml
kubectl apply --server-side -f deployment.yaml
sed 's/nginx:1.27/nginx:1.28/' deployment.yaml | kubectl apply --server-side -f - -o yaml --show-managed-fields
grep -v -e env: -e COLOR deployment.yaml | kubectl apply --server-side -f -
kubectl get deployment shop -o yaml --show-managed-fields
kubectl apply --server-side --dry-run=server -f service.yaml -o yaml
kubectl apply --server-side -f service.yaml -f pod.yaml -f configmap.yaml
kubectl get service shop -o yaml --show-managed-fields
kubectl get pod web -o yaml --show-managed-fields

## server-side: conflicts name the manager
kubectl apply --server-side -f configmap.yaml
sed 's/blue/red/; s/large/small/' configmap.yaml >red.yaml
! kubectl apply --server-side --field-manager=other -f red.yaml
kubectl apply --server-side --field-manager=other --force-conflicts -f red.yaml
kubectl get configmap settings -o yaml --show-managed-fields
! kubectl apply --server-side -f configmap.yaml
kubectl apply --server-side -f deployment.yaml
kubectl scale deployment shop --replicas=7
! kubectl apply --server-side -f deployment.yaml
kubectl set image deployment/shop nginx=nginx:9
! kubectl apply --server-side -f deployment.yaml
kubectl apply --server-side --force-conflicts -f deployment.yaml
kubectl get deployment shop -o yaml --show-managed-fields

## server-side: a custom resource
kubectl apply --server-side -f widget.yaml
kubectl apply --server-side -f widget.yaml -o yaml --show-managed-fields
! sed 's/medium/large/; s/count: 12/count: 13/' widget.yaml | kubectl apply --server-side --field-manager=other -f -
kubectl apply --server-side --field-manager=other -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: gear }
spec:
  size: medium
  parts: [{ name: spring, count: 3 }]
  tags: [shiny]
END
kubectl get widget gear -o yaml --show-managed-fields
sed '/axle/d; /settings/d' widget.yaml | kubectl apply --server-side -f -
kubectl get widget gear -o yaml --show-managed-fields

## server-side: after client-side
kubectl apply -f deployment.yaml
kubectl apply --server-side -f deployment.yaml
kubectl get deployment shop -o yaml --show-managed-fields
kubectl apply -f deployment.yaml

## server-side: what is refused
! kubectl apply --server-side -f - <<'END'
apiVersion: v1
kind: Service
metadata: { name: twice }
spec: { ports: [{ port: 80, protocol: TCP, name: a }, { port: 80, protocol: TCP, name: b }] }
END
! kubectl apply --server-side --field-manager='' -f configmap.yaml
! kubectl apply --server-side -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c, managedFields: [] , resourceVersion: '1' }
END
! kubectl apply --server-side -n nowhere -f configmap.yaml
kubectl apply --server-side --validate=false -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { name: c }
data: { a: '1', a: '2' }
END

## pruning what is no longer in the folder
mkdir set && cp configmap.yaml service.yaml set/
kubectl apply -f set
kubectl apply -f set --prune -l app=shop
rm set/service.yaml
kubectl apply -f set --prune -l app=shop --prune-allowlist=core/v1/Service --prune-allowlist=core/v1/ConfigMap
kubectl get services,configmaps -l app=shop

## with a kustomization
mkdir kustom && cp configmap.yaml deployment.yaml kustom/ && printf 'resources: [configmap.yaml, deployment.yaml]\nnamePrefix: my-\n' >kustom/kustomization.yaml
kubectl apply -k kustom
kubectl get -k kustom
kubectl delete -k kustom
