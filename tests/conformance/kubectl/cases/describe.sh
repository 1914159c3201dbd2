## a pod with events
kubectl create -f pod.yaml
uid=$(kubectl get pod web -o jsonpath='{.metadata.uid}'); kubectl create -f - <<END
apiVersion: v1
kind: Event
metadata: { name: web.1 }
involvedObject: { apiVersion: v1, kind: Pod, name: web, namespace: $NS, uid: $uid }
reason: Pulled
message: the image is here
type: Normal
source: { component: kubelet, host: somewhere }
count: 3
END
kubectl describe pod web
kubectl describe pod/web --show-events=false
kubectl describe -f pod.yaml
kubectl describe pods -l app=shop
kubectl events --for=pod/web
kubectl get events --field-selector=involvedObject.name=web,reason=Pulled
kubectl get events --field-selector=type=Warning
! kubectl describe pod none
! kubectl describe nothings

## workloads
kubectl create -f workloads.yaml
kubectl describe deployment front
kubectl describe rs middle
kubectl describe statefulset data
kubectl describe daemonset agent
kubectl describe job once
kubectl describe cronjob nightly
kubectl describe rc old
kubectl describe hpa front
kubectl describe pdb front

## networking and configuration
sed "s/NAMESPACE/$NS/" network-and-config.yaml | kubectl create -f -
kubectl create -f service.yaml
kubectl describe service shop
kubectl describe services -l set=net
kubectl describe ingress site
kubectl describe networkpolicy closed
kubectl describe endpoints manual
kubectl describe endpointslice slice
kubectl describe configmap conf
kubectl describe secret hidden
kubectl describe serviceaccount robot
kubectl describe pvc disk
kubectl describe quota few
kubectl describe limits bounds
kubectl describe role reader
kubectl describe rolebinding reader
kubectl describe lease leader
kubectl describe namespace $NS
kubectl describe event happened

## cluster-scoped objects
sed "s/PREFIX/$NS/" cluster-scoped.yaml | kubectl create -f -
kubectl describe pv $NS-pv
kubectl describe storageclass $NS-class
kubectl describe clusterrole $NS-role
kubectl describe clusterrolebinding $NS-binding
kubectl describe priorityclass $NS-urgent
kubectl describe ingressclass $NS-nginx
kubectl describe crd widgets.conformance.example.com | sed -E 's/Last Transition Time:.*//'

## custom resources
kubectl create -f widget.yaml
kubectl describe widget gear
kubectl describe widgets
! kubectl describe widget none
