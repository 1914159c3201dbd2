## by name, by label, all of a kind
kubectl create -f workloads.yaml -f configmap.yaml
kubectl delete configmap settings
! kubectl delete configmap settings
kubectl delete configmap settings --ignore-not-found
kubectl delete deployment/front job/once
kubectl delete rs -l set=work
kubectl delete statefulsets --all
kubectl delete -f workloads.yaml --ignore-not-found
kubectl get all
kubectl delete all --all
kubectl delete configmaps -l none=such
! kubectl delete nothings x
! kubectl delete configmap
kubectl create configmap a && kubectl create configmap b
kubectl delete configmap a b -o name
! kubectl delete configmap a b

## a dry run deletes nothing
kubectl create -f configmap.yaml -f widget.yaml
kubectl delete configmap settings --dry-run=server
kubectl delete widget gear --dry-run=server
kubectl delete configmaps --all --dry-run=server
kubectl delete configmap settings --dry-run=client
kubectl get configmap,widget -o name
kubectl delete --raw /api/v1/namespaces/$NS/configmaps/settings
kubectl delete --raw /apis/conformance.example.com/v1/namespaces/$NS/widgets/gear

## cascades
kubectl create -f deployment.yaml
kubectl delete deployment shop --cascade=orphan --wait=false
kubectl get deployment shop -o jsonpath='{.metadata.finalizers} {.metadata.deletionGracePeriodSeconds}'
kubectl get deployment shop -o yaml --show-managed-fields
kubectl patch deployment shop --type=merge -p '{"metadata":{"finalizers":null}}'
! kubectl get deployment shop
kubectl create -f deployment.yaml
kubectl delete deployment shop --cascade=foreground --wait=false
kubectl get deployment shop -o jsonpath='{.metadata.finalizers}'
kubectl patch deployment shop --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
kubectl create -f deployment.yaml
kubectl delete deployment shop --cascade=background
kubectl create -f widget.yaml
kubectl delete widget gear --cascade=foreground --wait=false
kubectl get widget gear -o yaml
kubectl delete widget gear --cascade=orphan --wait=false
kubectl get widget gear -o jsonpath='{.metadata.finalizers}'
kubectl patch widget gear --type=merge -p '{"metadata":{"finalizers":[]}}'
kubectl create -f configmap.yaml
kubectl delete configmaps --all --cascade=foreground --wait=false
kubectl get configmap settings -o yaml
kubectl patch configmap settings --type=merge -p '{"metadata":{"finalizers":null}}'

## finalizers hold an object
kubectl create configmap held
kubectl patch configmap held -p '{"metadata":{"finalizers":["example.com/a","example.com/b"]}}'
! kubectl delete configmap held --timeout=2s
kubectl get configmap held -o yaml
kubectl patch configmap held -p '{"data":{"a":"1"}}'
! kubectl patch configmap held -p '{"metadata":{"finalizers":["example.com/a","example.com/b","example.com/c"]}}'
kubectl delete configmap held --wait=false
kubectl patch configmap held --type=merge -p '{"metadata":{"finalizers":["example.com/b"]}}'
kubectl patch configmap held --type=merge -p '{"metadata":{"finalizers":[]}}'
! kubectl get configmap held
kubectl create -f widget.yaml
kubectl patch widget gear --type=merge -p '{"metadata":{"finalizers":["example.com/a"]}}'
kubectl delete widget gear --wait=false
kubectl get widgets
kubectl patch widget gear --type=merge -p '{"spec":{"size":"large"}}'
! kubectl create -f widget.yaml
kubectl patch widget gear --type=merge -p '{"metadata":{"finalizers":null}}'
! kubectl patch configmap held -p '{"metadata":{"finalizers":["not a finalizer"]}}'
kubectl create configmap bad
! kubectl patch configmap bad -p '{"metadata":{"finalizers":["not a finalizer"]}}'

## grace
kubectl create -f pod.yaml
kubectl delete pod web --grace-period=5 --wait=false
! kubectl get pod web
kubectl create -f pod.yaml
kubectl delete pod web --now
kubectl create -f pod.yaml
kubectl delete pod web --force
kubectl create -f pod.yaml
kubectl delete pod web --grace-period=0
kubectl create -f pod.yaml
kubectl delete pod web --force --grace-period=0
! kubectl delete pod web --force --grace-period=5

## a pod on a node is deleted gracefully
sed 's/^spec:/spec:\n  nodeName: somewhere/' pod.yaml | kubectl create -f -
kubectl delete pod web --wait=false
kubectl get pod web -o jsonpath='{.metadata.deletionGracePeriodSeconds}'
kubectl get pod web
kubectl delete pod web --grace-period=10 --wait=false
kubectl get pod web -o jsonpath='{.metadata.deletionGracePeriodSeconds}'
kubectl delete pod web --grace-period=0 --force
! kubectl get pod web

## a collection
for name in a b c d; do kubectl create configmap $name; done
kubectl label configmap a b remove=yes
kubectl delete configmap -l remove=yes
kubectl get configmaps -o name
kubectl delete configmaps --all
kubectl get configmaps
kubectl create -f widget.yaml
kubectl delete widgets --all
kubectl delete --raw "/api/v1/namespaces/$NS/configmaps?labelSelector=a%3Db"
kubectl create configmap e
kubectl delete configmaps --field-selector=metadata.name=e
! kubectl delete configmaps --all x

## a namespace
kubectl create namespace $NS-doomed
kubectl create configmap left -n $NS-doomed
kubectl delete namespace $NS-doomed --wait=false
kubectl get namespace $NS-doomed
kubectl get namespace $NS-doomed -o yaml
! kubectl create configmap late -n $NS-doomed
kubectl label configmap left a=b -n $NS-doomed
kubectl delete configmap left -n $NS-doomed
kubectl get namespace $NS-doomed -o json | sed 's/"kubernetes"//' | kubectl replace --raw /api/v1/namespaces/$NS-doomed/finalize -f -
! kubectl get namespace $NS-doomed
! kubectl delete namespace default
! kubectl delete namespace kube-system

## preconditions
kubectl create configmap a
! kubectl delete --raw /api/v1/namespaces/$NS/configmaps/a -f - <<'END'
{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"00000000-0000-0000-0000-000000000000"}}
END
! kubectl delete --raw "/api/v1/namespaces/$NS/configmaps/a?propagationPolicy=Sideways"
! kubectl delete --raw "/api/v1/namespaces/$NS/configmaps/none"

## interactively
kubectl create configmap a
echo n | kubectl delete configmap a --interactive
echo y | kubectl delete configmap a --interactive
