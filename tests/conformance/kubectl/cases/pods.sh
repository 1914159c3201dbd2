# What is particular to pods and nodes, without a kubelet.

## a pod without a node has no logs and runs nothing
kubectl create -f pod.yaml
kubectl logs web
! kubectl logs web -c none
kubectl logs web -c nginx
! kubectl logs none
! kubectl exec web -c nginx -- ls
! kubectl port-forward web 8080:80
! kubectl attach web -c nginx

## an ephemeral container is added
kubectl create -f pod.yaml
kubectl debug web --image=busybox --container=dbg --target=nginx
kubectl get pod web -o jsonpath='{.spec.ephemeralContainers}'
! kubectl debug web --image=busybox --container=nginx
! kubectl patch pod web -p '{"spec":{"ephemeralContainers":[{"name":"x","image":"y"}]}}'
kubectl get pod web -o yaml --show-managed-fields

## a pod is bound to a node once
kubectl create -f pod.yaml
cat >binding.json <<END
{"apiVersion":"v1","kind":"Binding","metadata":{"name":"web","annotations":{"by":"hand"}},"target":{"kind":"Node","name":"$NS"}}
END
kubectl create --raw /api/v1/namespaces/$NS/pods/web/binding -f binding.json
! kubectl create --raw /api/v1/namespaces/$NS/pods/web/binding -f binding.json
! kubectl create --raw /api/v1/namespaces/$NS/pods/none/binding -f binding.json
kubectl get pod web -o yaml --show-managed-fields

## a node is drained
sed "s/NODE/$NS/" node.yaml | kubectl create -f -
sed "s/^spec:/spec:\n  nodeName: $NS/" pod.yaml | kubectl create -f -
! kubectl drain $NS --timeout=5s
kubectl drain $NS --force --delete-emptydir-data --disable-eviction --grace-period=0
kubectl get node $NS
! kubectl get pod web
sed "s/^spec:/spec:\n  nodeName: $NS/" pod.yaml | kubectl create -f -
kubectl patch pod web --subresource=status -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
kubectl create pdb shop --selector=app=shop --min-available=1
# Without a disruption controller the budget is stale, and the eviction is refused.
! kubectl create --raw /api/v1/namespaces/$NS/pods/web/eviction -f - <<'END'
{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}}
END
kubectl delete pdb shop
kubectl create --raw /api/v1/namespaces/$NS/pods/web/eviction -f - <<'END'
{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"},"deleteOptions":{"gracePeriodSeconds":0}}
END
! kubectl get pod web
kubectl delete node $NS

## a pod is resized
kubectl create -f pod.yaml
kubectl patch pod web --subresource=resize -p '{"spec":{"containers":[{"name":"nginx","resources":{"requests":{"cpu":"200m"}}}]}}' || true
kubectl get pod web -o jsonpath='{.spec.containers[0].resources} {.metadata.generation}'
! kubectl patch pod web -p '{"spec":{"containers":[{"name":"nginx","resources":{"requests":{"cpu":"300m"}}}]}}'
kubectl patch pod web -p '{"spec":{"activeDeadlineSeconds":60}}'
! kubectl patch pod web -p '{"spec":{"activeDeadlineSeconds":90}}'
kubectl patch pod web -p '{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}'
kubectl get pod web -o jsonpath='{.spec.tolerations}'
