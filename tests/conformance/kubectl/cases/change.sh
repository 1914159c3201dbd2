## replace
kubectl create -f configmap.yaml
sed 's/blue/red/' configmap.yaml | kubectl replace -f -
kubectl get configmap settings -o yaml --show-managed-fields
! sed 's/name: settings/name: other/' configmap.yaml | kubectl replace -f -
# A Service may be created by an update.
kubectl replace -f service.yaml
kubectl replace --force -f configmap.yaml
kubectl replace --force -f service.yaml
sed 's/blue/black/' configmap.yaml | kubectl replace --dry-run=server -o yaml -f -
kubectl get configmap settings -o jsonpath='{.data.color}'
kubectl create -f deployment.yaml
sed 's/replicas: 3/replicas: 4/' deployment.yaml | kubectl replace --save-config -o yaml -f -
kubectl create -f widget.yaml
kubectl replace -f widget.yaml
kubectl get widget gear -o json | sed 's/medium/small/' | kubectl replace -f - -o yaml
kubectl create -f pod.yaml
! sed 's/name: sidecar/name: other/' pod.yaml | kubectl replace -f -

## a subresource is replaced
kubectl create -f widget.yaml
kubectl get widget gear -o json | sed 's/"spec": {/"status": {"phase": "Fine", "replicas": 2},"spec": {/' >with-status.json
kubectl replace --subresource=status -f with-status.json
kubectl get widget gear -o jsonpath='{.status} {.metadata.generation}'
kubectl get widget gear --subresource=status -o yaml
kubectl get widget gear --subresource=scale
kubectl get widget gear --subresource=scale -o yaml
kubectl create -f deployment.yaml
kubectl get deployment shop --subresource=scale -o yaml
kubectl get deployment shop --subresource=scale
kubectl get deployment shop --subresource=status

## edit
kubectl create -f configmap.yaml
KUBE_EDITOR='sed -i s/blue/red/' kubectl edit configmap settings
kubectl get configmap settings -o jsonpath='{.data.color}'
KUBE_EDITOR=true kubectl edit configmap settings
kubectl create -f deployment.yaml
KUBE_EDITOR='sed -i s/1.27/1.28/' kubectl edit deployment shop -o json
! KUBE_EDITOR='sed -i s/Always/Sometimes/' kubectl edit deployment shop
kubectl create -f widget.yaml
KUBE_EDITOR='sed -i s/medium/large/' kubectl edit widget gear
! KUBE_EDITOR='sed -i s/large/huge/' kubectl edit widget gear
KUBE_EDITOR='sed -i s/large/small/' kubectl edit widget gear --subresource=status
KUBE_EDITOR='sed -i s/large/small/' kubectl edit widget gear -o yaml --output-patch=false
KUBE_EDITOR='sed -i s/small/medium/' kubectl edit widget gear --output-patch
! KUBE_EDITOR='sed -i s/name:.settings/name:.renamed/' kubectl edit configmap settings
! kubectl edit configmap nothing
! KUBE_EDITOR='sed -i s/blue/green/' kubectl create --edit -f configmap.yaml
KUBE_EDITOR='sed -i s/settings/more/' kubectl create --edit -f configmap.yaml

## strategic patches
kubectl create -f deployment.yaml
kubectl patch deployment shop -p '{"spec":{"template":{"spec":{"containers":[{"name":"helper","image":"busybox"}]}}}}'
kubectl patch deployment shop -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","env":[{"name":"COLOR","$patch":"delete"},{"name":"SIZE","value":"big"}]}]}}}}' -o yaml
kubectl patch deployment shop -p '{"spec":{"template":{"spec":{"containers":[{"name":"helper","$patch":"delete"}]}}}}'
kubectl patch deployment shop -p '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"first"},{"name":"nginx"}],"containers":[{"name":"first","image":"busybox"}]}}}}'
kubectl patch deployment shop -p '{"metadata":{"labels":{"app":null,"new":"yes"}}}'
kubectl patch deployment shop -p '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}'
kubectl patch deployment shop -p '{"spec":{"template":{"metadata":{"labels":{"$patch":"replace","app":"shop"}}}}}'
kubectl patch deployment shop -p '{"metadata":{"labels":{"new":"yes"}}}'
kubectl get deployment shop -o yaml --show-managed-fields
kubectl patch -f deployment.yaml -p 'spec: {replicas: 9}'
kubectl patch deployment shop --dry-run=server -p '{"spec":{"replicas":1}}' -o jsonpath='{.spec.replicas}'
kubectl create serviceaccount s
kubectl patch serviceaccount s -p '{"imagePullSecrets":[{"name":"a"}]}'
kubectl patch serviceaccount s -p '{"imagePullSecrets":[{"name":"b"}]}' -o yaml
kubectl patch configmap nothing -p '{}' || true

## merge and JSON patches
kubectl create -f configmap.yaml -f widget.yaml
kubectl patch configmap settings --type=merge -p '{"data":{"color":null,"new":"1"}}' -o yaml
kubectl patch configmap settings --type=merge -p '{"data":{"new":"1"}}'
kubectl patch configmap settings --type=json -p '[{"op":"add","path":"/data/a~1b","value":"x"},{"op":"move","from":"/data/new","path":"/data/old"},{"op":"copy","from":"/data/old","path":"/data/copy"}]' || true
kubectl patch configmap settings --type=json -p '[{"op":"add","path":"/data/ab","value":"x"},{"op":"move","from":"/data/new","path":"/data/old"},{"op":"copy","from":"/data/old","path":"/data/copy"},{"op":"test","path":"/data/ab","value":"x"},{"op":"remove","path":"/data/text"}]'
kubectl get configmap settings -o yaml --show-managed-fields
kubectl patch widget gear --type=merge -p '{"spec":{"tags":["new"],"settings":{"speed":null,"noise":"low"}}}'
kubectl patch widget gear --type=json -p '[{"op":"add","path":"/spec/parts/-","value":{"name":"screw"}},{"op":"replace","path":"/spec/size","value":"large"}]'
kubectl get widget gear -o yaml --show-managed-fields

## patches of subresources
kubectl create -f deployment.yaml -f widget.yaml -f pod.yaml
kubectl patch deployment shop --subresource=status --type=merge -p '{"status":{"replicas":3,"readyReplicas":2,"availableReplicas":2,"updatedReplicas":3,"observedGeneration":1},"spec":{"replicas":99}}'
kubectl patch deployment shop --subresource=scale --type=merge -p '{"spec":{"replicas":6}}'
kubectl get deployment shop
kubectl get deployment shop -o yaml --show-managed-fields
kubectl patch widget gear --subresource=status --type=merge -p '{"status":{"replicas":2,"selector":"app=gear","conditions":[{"type":"Ready","status":"True"}]}}'
kubectl patch widget gear --subresource=scale --type=merge -p '{"spec":{"replicas":4}}'
kubectl get widget gear
kubectl get widget gear -o yaml --show-managed-fields
kubectl patch pod web --subresource=status -p '{"status":{"phase":"Running","podIP":"192.0.2.7","conditions":[{"type":"Ready","status":"True"}]}}'
kubectl get pod web -o wide
! kubectl patch configmap nothing --subresource=status -p '{}'
! kubectl patch widget gear --subresource=scale --type=merge -p '{"spec":{"replicas":-4}}'
! kubectl patch widget gear --subresource=scale --type=merge -p '{"spec":{"replicas":400}}'
! kubectl patch deployment shop --subresource=nothing -p '{}'

## label
kubectl create -f configmap.yaml -f widget.yaml
kubectl label configmap settings tier=back new=
kubectl label configmap settings tier=back
! kubectl label configmap settings tier=front
kubectl label configmap settings tier=front --overwrite
kubectl label configmap settings tier-
kubectl label configmap settings tier-
kubectl label configmap settings --list | sort
! kubectl label configmap settings 'bad key=x'
! kubectl label configmap settings a='bad value!'
kubectl label configmaps --all common=yes
kubectl label configmaps -l common=yes also=this
kubectl label widget gear color=red -o yaml
kubectl label -f widget.yaml color-
kubectl label configmap settings dry=run --dry-run=server -o jsonpath='{.metadata.labels}'
! kubectl label configmap nothing a=b
kubectl get configmap settings -o yaml --show-managed-fields

## annotate
kubectl create -f configmap.yaml -f widget.yaml
kubectl annotate configmap settings note='some words' example.com/a=b
! kubectl annotate configmap settings note=other
kubectl annotate configmap settings note=other --overwrite
kubectl annotate configmap settings note-
kubectl annotate configmap settings --list | sort
kubectl annotate widget gear note=x -o yaml
! kubectl annotate configmap settings 'bad key/too/many=x'
kubectl annotate --all configmaps,widgets everywhere=yes
kubectl get widget gear -o jsonpath='{.metadata.annotations}'

## scale
kubectl create -f deployment.yaml -f widget.yaml -f workloads.yaml
kubectl scale deployment shop --replicas=5
kubectl scale deployment/shop deployment/front --replicas=2
! kubectl scale deployment shop --current-replicas=9 --replicas=1
kubectl scale --current-replicas=2 --replicas=1 deployment/shop
kubectl scale widget gear --replicas=7
kubectl scale statefulset data --replicas=0
kubectl scale rs middle --replicas=4
kubectl scale rc old --replicas=3
! kubectl scale widget gear --replicas=700
! kubectl scale configmap nothing --replicas=1
! kubectl scale deployment nothing --replicas=1
! kubectl scale daemonset agent --replicas=2
kubectl scale -f deployment.yaml --replicas=8 -o yaml
kubectl scale deployment shop --replicas=3 --dry-run=server
kubectl get deployments,statefulsets,replicasets,replicationcontrollers,widgets
kubectl get widget gear -o yaml --show-managed-fields
kubectl get deployment shop -o yaml --show-managed-fields

## autoscale
kubectl create -f deployment.yaml -f widget.yaml
kubectl autoscale deployment shop --min=2 --max=5 --cpu-percent=80
kubectl get hpa
kubectl get hpa shop -o yaml
! kubectl autoscale deployment shop --max=5
kubectl autoscale deployment shop --name=dry --max=5 --dry-run=server
! kubectl autoscale deployment shop --min=5 --max=2 --name=wrong

## rollouts
kubectl create -f deployment.yaml
kubectl rollout pause deployment/shop
! kubectl rollout pause deployment/shop
kubectl rollout status deployment/shop --watch=false
kubectl rollout resume deployment/shop
! kubectl rollout resume deployment/shop
kubectl rollout restart deployment/shop
kubectl get deployment shop -o jsonpath='{.spec.template.metadata.annotations}'
kubectl rollout status deployment/shop --watch=false
! kubectl rollout status deployment/shop --timeout=2s
kubectl patch deployment shop --subresource=status --type=merge -p '{"status":{"replicas":3,"readyReplicas":3,"availableReplicas":3,"updatedReplicas":3,"observedGeneration":4}}'
kubectl rollout status deployment/shop
kubectl rollout history deployment/shop
! kubectl rollout undo deployment/shop
! kubectl rollout status deployment/nothing
! kubectl rollout restart configmap/nothing
kubectl get deployment shop -o yaml --show-managed-fields

## a rollout is undone
kubectl create -f deployment.yaml
sed -e 's/kind: Deployment/kind: ReplicaSet/' -e 's/name: shop$/name: shop-old/' -e 's/nginx:1.27/nginx:1.20/' -e 's/labels: { app: shop }/labels: { app: shop, pod-template-hash: abc }/' -e 's/matchLabels: { app: shop }/matchLabels: { app: shop, pod-template-hash: abc }/' deployment.yaml >old.yaml
kubectl create -f old.yaml
kubectl annotate rs shop-old deployment.kubernetes.io/revision=1 kubernetes.io/change-cause='the first one'
sed -e 's/kind: Deployment/kind: ReplicaSet/' -e 's/name: shop$/name: shop-new/' -e 's/labels: { app: shop }/labels: { app: shop, pod-template-hash: def }/' -e 's/matchLabels: { app: shop }/matchLabels: { app: shop, pod-template-hash: def }/' deployment.yaml | kubectl create -f -
kubectl annotate rs shop-new deployment.kubernetes.io/revision=2
uid=$(kubectl get deployment shop -o jsonpath='{.metadata.uid}'); for rs in old new; do kubectl patch rs shop-$rs --type=merge -p '{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"shop","uid":"'$uid'","controller":true}]}}'; done
kubectl rollout history deployment/shop
kubectl rollout history deployment/shop --revision=1
kubectl rollout undo deployment/shop --dry-run=server
kubectl rollout undo deployment/shop
kubectl get deployment shop -o jsonpath='{.spec.template}'
! kubectl rollout undo deployment/shop --to-revision=9
kubectl describe deployment shop

## rollouts of sets
kubectl create -f workloads.yaml
kubectl rollout restart statefulset/data daemonset/agent
kubectl rollout status statefulset/data --watch=false
kubectl patch statefulset data --subresource=status --type=merge -p '{"status":{"replicas":1,"readyReplicas":1,"updatedReplicas":1,"currentRevision":"a","updateRevision":"a","observedGeneration":2}}'
kubectl rollout status statefulset/data --watch=false
kubectl patch daemonset agent --subresource=status --type=merge -p '{"status":{"desiredNumberScheduled":1,"updatedNumberScheduled":1,"numberAvailable":1,"observedGeneration":2}}'
kubectl rollout status daemonset/agent
kubectl rollout history statefulset/data
kubectl get daemonset,statefulset -o wide

## set image, env, resources
kubectl create -f deployment.yaml -f pod.yaml
kubectl set image deployment/shop nginx=nginx:2
kubectl set image deployment/shop '*=nginx:3' -o yaml
! kubectl set image deployment/shop nothing=nginx:2
kubectl set image pod/web nginx=nginx:2
kubectl set env deployment/shop SIZE=big COLOR-
kubectl set env deployment/shop --list
kubectl create configmap more --from-literal=a=1
kubectl set env deployment/shop --from=configmap/more --prefix=MY_
kubectl set env deployment/shop --list --resolve
kubectl set resources deployment shop --limits=cpu=200m,memory=512Mi --requests=cpu=100m
! kubectl set resources deployment shop --limits=cpu=50m
kubectl set serviceaccount deployment shop robot
kubectl set image deployment/shop nginx=nginx:4 --dry-run=server
kubectl get deployment shop -o yaml --show-managed-fields

## set selector and subject
kubectl create -f service.yaml
kubectl set selector service shop app=other,tier=x
kubectl get service shop -o jsonpath='{.spec.selector}'
kubectl create rolebinding rb --role=r --user=one
kubectl set subject rolebinding rb --user=two --group=g --serviceaccount=$NS:s
kubectl get rolebinding rb -o yaml
kubectl create clusterrolebinding $NS-crb --clusterrole=r --user=one
kubectl set subject clusterrolebinding $NS-crb --user=two

## expose
kubectl create -f deployment.yaml -f pod.yaml
kubectl expose deployment shop --port=80 --target-port=8080
! kubectl expose deployment shop --port=80
kubectl expose pod web --name=by-pod --type=NodePort -o yaml
kubectl expose deployment shop --name=load --type=LoadBalancer --port=443 --protocol=UDP
kubectl expose service shop --name=again --port=81
kubectl get services -o wide
! kubectl expose deployment nothing --port=80
kubectl get service shop -o yaml

## owned objects and taints
sed "s/NODE/$NS/" node.yaml | kubectl create -f -
kubectl taint node $NS extra=yes:NoExecute
kubectl taint node $NS dedicated-
! kubectl taint node $NS extra=no:NoExecute
kubectl taint node $NS extra=no:NoExecute --overwrite
! kubectl taint node $NS extra=no:Perhaps
kubectl cordon $NS
kubectl get node $NS
kubectl cordon $NS
kubectl uncordon $NS
kubectl drain $NS --dry-run=server
kubectl get node $NS -o yaml
