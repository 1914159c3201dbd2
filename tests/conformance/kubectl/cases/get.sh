## every format of one object
kubectl create -f pod.yaml
kubectl get pod web
kubectl get pod/web -o wide
kubectl get pod web -o yaml
kubectl get pod web -o json
kubectl get pod web -o name
kubectl get pod web -o jsonpath='{.spec.containers[*].name}{"\n"}{.metadata.labels.app}'
kubectl get pod web -o jsonpath-as-json='{.spec.containers[*].ports}'
kubectl get pod web -o go-template='{{range .spec.containers}}{{.name}} {{.image}}{{"\n"}}{{end}}'
kubectl get pod web -o custom-columns=NAME:.metadata.name,IMAGES:.spec.containers[*].image,NONE:.spec.nothing
kubectl get pod web --show-labels
kubectl get pod web -L app,tier,none
kubectl get pod web --no-headers
kubectl get pod web --show-kind
kubectl get -f pod.yaml
kubectl get pod web --server-print=false
! kubectl get pod web -o nothing
! kubectl get pod web -o jsonpath='{.spec[}'

## every format of a list
kubectl create configmap b --from-literal=x=1 && kubectl create configmap a && kubectl create configmap c --from-literal=x=1 --from-literal=y=2
kubectl label configmap a b kind=letter
kubectl get configmaps
kubectl get cm -o wide
kubectl get cm -o yaml
kubectl get cm -o json
kubectl get cm -o name
kubectl get cm -o jsonpath='{.items[*].metadata.name}'
kubectl get cm -o custom-columns=NAME:.metadata.name,DATA:.data --sort-by=.metadata.name
kubectl get cm --sort-by='{.data.x}'
kubectl get cm --sort-by=.metadata.name --no-headers
kubectl get cm --chunk-size=1
kubectl get cm --chunk-size=2 -o name
kubectl get cm -l kind=letter
kubectl get cm -l 'kind in (letter, word)' -o name
kubectl get cm -l 'kind notin (letter)' -o name
kubectl get cm -l '!kind' -o name
kubectl get cm -l 'kind,kind!=word' -o name
kubectl get cm a c
! kubectl get cm a none c
kubectl get cm none --ignore-not-found
kubectl get cm -A -l kind=letter --field-selector=metadata.namespace=$NS
kubectl get cm --field-selector=metadata.name=b
kubectl get cm --field-selector=metadata.name!=b -o name
! kubectl get cm --field-selector=data.x=1
! kubectl get cm --field-selector=nonsense
! kubectl get cm -l 'a=b=c'
! kubectl get cm -l 'bad key'
! kubectl get cm -l 'a in b'
kubectl get cm -l kind=none
kubectl get cm -l kind=none -o yaml
kubectl get secrets -A -l kind=none
kubectl get --raw "/api/v1/namespaces/$NS/configmaps?limit=1" | grep -o '"remainingItemCount":[0-9]*'
kubectl get --raw "/api/v1/namespaces/$NS/configmaps/a"
! kubectl get --raw "/api/v1/namespaces/$NS/configmaps/none"
! kubectl get --raw "/api/v1/namespaces/$NS/configmaps?continue=nonsense"
! kubectl get --raw "/api/v1/namespaces/$NS/configmaps?limit=nonsense"
kubectl get --raw "/api/v1/namespaces/$NS/configmaps?labelSelector=kind%3Dnone"

## tables of workloads
kubectl create -f workloads.yaml
kubectl get deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,rc,hpa,pdb
kubectl get deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,rc,hpa,pdb -o wide
kubectl get all -l set=work
kubectl get all -l set=work --show-labels
kubectl get all -o name
kubectl get deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,rc,hpa,pdb -o yaml

## tables of workloads with a status
kubectl create -f workloads.yaml
kubectl patch deployment front --subresource=status --type=merge -p '{"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1,"updatedReplicas":3}}'
kubectl patch rs middle --subresource=status --type=merge -p '{"status":{"replicas":2,"readyReplicas":1}}'
kubectl patch statefulset data --subresource=status --type=merge -p '{"status":{"replicas":1,"readyReplicas":1}}'
kubectl patch daemonset agent --subresource=status --type=merge -p '{"status":{"desiredNumberScheduled":4,"currentNumberScheduled":3,"numberReady":2,"updatedNumberScheduled":3,"numberAvailable":1}}'
kubectl patch job once --subresource=status --type=merge -p '{"status":{"succeeded":1,"active":2,"startTime":"2026-01-01T00:00:00Z"}}'
kubectl patch cronjob nightly --subresource=status --type=merge -p '{"status":{"lastScheduleTime":"2026-01-01T03:00:00Z","active":[{"name":"x","kind":"Job"}]}}'
kubectl patch hpa front --subresource=status --type=merge -p '{"status":{"currentReplicas":3,"desiredReplicas":4,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":55,"averageValue":"110m"}}}]}}'
kubectl patch pdb front --subresource=status --type=merge -p '{"status":{"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3}}'
kubectl get all,pdb | sed -E 's/[0-9]+d/<days>/'
kubectl get all,pdb -o wide | sed -E 's/[0-9]+d/<days>/'
kubectl get hpa front -o yaml

## tables of pods in every state
for name in running pending crash done terminating; do sed "s/name: web/name: $name/" pod.yaml | kubectl create -f -; done
kubectl patch pod running --subresource=status -p '{"status":{"phase":"Running","podIP":"192.0.2.1","podIPs":[{"ip":"192.0.2.1"}],"containerStatuses":[{"name":"nginx","ready":true,"restartCount":0,"image":"i","imageID":"x","state":{"running":{}}},{"name":"sidecar","ready":true,"restartCount":2,"image":"i","imageID":"x","state":{"running":{}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:00:00Z"}}}]}}'
kubectl patch pod crash --subresource=status -p '{"status":{"phase":"Running","containerStatuses":[{"name":"nginx","ready":false,"restartCount":5,"image":"i","imageID":"x","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}'
kubectl patch pod done --subresource=status -p '{"status":{"phase":"Succeeded","containerStatuses":[{"name":"nginx","ready":false,"restartCount":0,"image":"i","imageID":"x","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}}'
kubectl patch pod terminating --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
kubectl delete pod terminating --wait=false
kubectl get pods | sed -E 's/\([0-9]+d ago\)/<days>/'
kubectl get pods -o wide | sed -E 's/\([0-9]+d ago\)/<days>/'
kubectl get pods --field-selector=status.phase=Running -o name
kubectl get pods --field-selector=status.phase!=Running,spec.restartPolicy=Always -o name
kubectl get pods --field-selector=spec.nodeName= -o name
kubectl patch pod terminating --type=merge -p '{"metadata":{"finalizers":null}}'

## tables of networking and configuration
sed "s/NAMESPACE/$NS/" network-and-config.yaml | kubectl create -f -
kubectl get services,ingresses,networkpolicies,endpoints,endpointslices
kubectl get services,ingresses,networkpolicies,endpoints,endpointslices -o wide
kubectl get configmaps,secrets,serviceaccounts,pvc,quota,limits,podtemplates
kubectl get configmaps,secrets,serviceaccounts,pvc,quota,limits,podtemplates -o wide
kubectl get roles,rolebindings,leases,csistoragecapacities
kubectl get roles,rolebindings,leases,csistoragecapacities -o wide
kubectl get events
kubectl get events -o wide
kubectl get events.events.k8s.io -o yaml
kubectl get configmaps,secrets,serviceaccounts,pvc,quota,limits,podtemplates,roles,rolebindings,leases,csistoragecapacities -o yaml
kubectl get services,ingresses,networkpolicies,endpoints,endpointslices -o yaml

## tables of cluster-scoped kinds
sed "s/PREFIX/$NS/" cluster-scoped.yaml >mine.yaml
kubectl create -f mine.yaml
kubectl get pv,sc,clusterroles,clusterrolebindings,priorityclasses,ingressclasses,runtimeclasses,csidrivers,csinodes,volumeattachments -l set=$NS
kubectl get pv,sc,clusterroles,clusterrolebindings,priorityclasses,ingressclasses,runtimeclasses,csidrivers,csinodes,volumeattachments -l set=$NS -o wide
kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,prioritylevelconfigurations -l set=$NS
kubectl get pv,sc,clusterroles,clusterrolebindings,priorityclasses,ingressclasses,runtimeclasses,csidrivers,csinodes,volumeattachments -l set=$NS -o yaml
kubectl get validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,prioritylevelconfigurations -l set=$NS -o yaml
kubectl get namespace $NS
kubectl get namespace $NS -o yaml
kubectl get crd widgets.conformance.example.com
kubectl delete -f mine.yaml --wait=false

## nodes
sed "s/NODE/$NS/" node.yaml | kubectl create -f -
kubectl get node $NS
kubectl patch node $NS --subresource=status -p '{"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.9"},{"type":"Hostname","address":"host"}],"capacity":{"cpu":"4","memory":"8Gi","pods":"110"},"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True","reason":"Fine","message":"well"}],"nodeInfo":{"kubeletVersion":"v1.36.0","osImage":"Test OS","kernelVersion":"6.0","containerRuntimeVersion":"test://1","architecture":"amd64","operatingSystem":"linux","machineID":"","systemUUID":"","bootID":"","kubeProxyVersion":""}}}'
kubectl get node $NS
kubectl get node $NS -o wide
kubectl get node $NS -o yaml
kubectl describe node $NS
kubectl label node $NS node-role.kubernetes.io/control-plane=
kubectl get node $NS --show-labels
kubectl get nodes --field-selector=metadata.name=$NS -o name

## custom resources
kubectl create -f widget.yaml
kubectl create -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { name: bolt }
spec: { size: small, color: grey }
END
kubectl get widgets
kubectl get wd -o wide
kubectl get widget.conformance.example.com gear -o yaml
kubectl get widgets.v1beta1.conformance.example.com
kubectl get widgets.v1beta1.conformance.example.com gear -o yaml
kubectl get widgets.v1.conformance.example.com -o name
kubectl get gadgets
kubectl get widgets --show-labels -L tier
kubectl get widgets --field-selector=spec.color=grey
kubectl get widgets --field-selector=spec.color!=grey -o name
! kubectl get widgets --field-selector=spec.size=small
kubectl get widgets --sort-by=.spec.replicas
kubectl get widgets -o custom-columns=N:.metadata.name,S:.spec.size
kubectl get widgets -o json
kubectl get widgets --chunk-size=1
kubectl get widgets -l app=gear
kubectl get widgets,configmaps
kubectl get widgets --server-print=false
! kubectl get widgets.v9.conformance.example.com
! kubectl get widgets gear none
kubectl get --raw /apis/conformance.example.com/v1/namespaces/$NS/widgets/gear
kubectl get --raw /apis/conformance.example.com/v1/namespaces/$NS/widgets/gear/scale
! kubectl get --raw /apis/conformance.example.com/v1beta1/namespaces/$NS/widgets/gear/scale

## several kinds and what is not there
kubectl create -f configmap.yaml -f service.yaml
kubectl get configmap/settings service/shop
! kubectl get configmap/settings service/none
kubectl get cm,svc -l app=shop
kubectl get cm,svc -l app=shop -o name
kubectl get cm,svc -l app=shop -o yaml
! kubectl get nothings
! kubectl get nothings.nowhere.example.com
! kubectl get cm,nothings
! kubectl get configmap none
! kubectl get configmap none -o yaml
! kubectl get configmap/
kubectl get configmaps -n none-such
kubectl get pods
kubectl get pods -o yaml
kubectl get pods -A -l none=such
! kubectl get
kubectl get cm settings -o yaml --show-managed-fields=false
kubectl get cm settings -o json --show-managed-fields

## field selectors of built-in kinds
kubectl create -f pod.yaml -f workloads.yaml
kubectl create secret generic s --from-literal=a=1
kubectl get pods --field-selector=spec.schedulerName=default-scheduler -o name
kubectl get pods --field-selector=spec.serviceAccountName=,spec.hostNetwork=false -o name
kubectl get pods --field-selector=status.podIP=,status.nominatedNodeName= -o name
! kubectl get pods --field-selector=spec.nothing=1
kubectl get secrets --field-selector=type=Opaque -o name
kubectl get jobs --field-selector=status.successful=0 -o name
! kubectl get rs,rc --field-selector=status.replicas=0 -o name
kubectl get services -A --field-selector=spec.type=ClusterIP,metadata.name=kubernetes -o name
kubectl get namespaces --field-selector=status.phase=Active,metadata.name=$NS -o name
kubectl get nodes --field-selector=spec.unschedulable=true -o name
kubectl get events --field-selector=involvedObject.kind=Pod,reportingComponent=x
! kubectl get deployments --field-selector=status.replicas=0
! kubectl get namespaces --field-selector=spec.nothing=1
kubectl delete pods --field-selector=status.phase=Pending

## tables of rarer kinds
sed "s/PREFIX/$NS/; s/NAMESPACE/$NS/" rarer-kinds.yaml >mine.yaml
kubectl create -f mine.yaml
kubectl get -f mine.yaml
kubectl get -f mine.yaml -o wide
kubectl get -f mine.yaml -o yaml
# The older kubectl describes some of them by versions that have gone.
kubectl describe -f mine.yaml || true
# Classes of volumes stay until a controller lets go of them, and here is none.
kubectl delete -f mine.yaml --wait=false
