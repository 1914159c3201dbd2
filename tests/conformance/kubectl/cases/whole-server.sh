# What depends on every object of a server. Nothing else runs meanwhile.

## every kind is listed
kubectl api-resources
kubectl api-resources -o wide
kubectl api-resources -o name
kubectl api-resources --namespaced=false
kubectl api-resources --namespaced=true --verbs=create,watch
kubectl api-resources --api-group=apps
kubectl api-resources --api-group=conformance.example.com -o wide
kubectl api-resources --api-group=
kubectl api-resources --categories=all
kubectl api-resources --sort-by=kind
! kubectl api-resources --sort-by=nothing
kubectl api-resources --no-headers --api-group=batch
kubectl api-resources --api-group=nowhere.example.com

## every version is listed
kubectl api-versions

## a server begins with the same objects
kubectl get namespaces default kube-system kube-public kube-node-lease --show-labels
kubectl get namespace default -o yaml
kubectl get service kubernetes -n default
kubectl get service kubernetes -n default -o yaml
kubectl get priorityclasses
kubectl get priorityclass system-node-critical -o yaml
kubectl get servicecidrs
kubectl get servicecidr kubernetes -o jsonpath='{.status.conditions}'
kubectl get nodes
kubectl get storageclasses
kubectl get pods -A
kubectl get crd
kubectl get secrets -A
kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations

## API services show what is served
kubectl get apiservices
kubectl get apiservice v1.apps -o yaml
kubectl describe apiservice v1.

## documents are served raw
kubectl get --raw /api
kubectl get --raw /apis/apps/v1
kubectl get --raw /apis/apps
kubectl get --raw /apis/conformance.example.com/v1
kubectl get --raw /livez
kubectl get --raw /healthz
! kubectl get --raw /nothing
! kubectl get --raw /apis/nowhere.example.com/v1
! kubectl get --raw /api/v1/nothings

## the server says who it is
# The build's own facts are not behaviour: compared without them.
kubectl version | sed -E 's/^(Server Version: v[0-9.]+).*/\1/'
kubectl version -o json | grep -E '"(major|minor|emulationMajor|emulationMinor|minCompatibilityMajor|minCompatibilityMinor)"'
kubectl cluster-info
kubectl auth whoami -o jsonpath='{.status.userInfo.groups}'
kubectl auth can-i create pods
kubectl auth can-i '*' '*' --all-namespaces
kubectl auth can-i get pods --subresource=log -q
kubectl auth can-i get /healthz
! kubectl top pods
! kubectl top nodes
kubectl get componentstatuses | awk '{print $1}' | head -1
