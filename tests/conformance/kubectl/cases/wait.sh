## conditions
kubectl create -f deployment.yaml -f widget.yaml
! kubectl wait --for=condition=Available deployment/shop --timeout=2s
kubectl patch deployment shop --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"False"}]}}'
kubectl wait --for=condition=Available deployment/shop
kubectl wait --for=condition=Progressing=false deployment/shop
kubectl wait --for=condition=available --all deployments
kubectl patch widget gear --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
kubectl wait --for=condition=Ready widget/gear
! kubectl wait --for=condition=Ready widget/none --timeout=2s
! kubectl wait --for=condition=Ready widgets -l none=such --timeout=2s
(sleep 1; kubectl patch widget gear --subresource=status --type=merge -p '{"status":{"conditions":[{"type":"Ready","status":"False"}]}}' >/dev/null) & kubectl wait --for=condition=Ready=False widget/gear --timeout=20s

## values
kubectl create -f configmap.yaml -f widget.yaml
kubectl wait --for=jsonpath='{.data.color}'=blue configmap/settings
! kubectl wait --for=jsonpath='{.data.color}'=red configmap/settings --timeout=2s
(sleep 1; kubectl patch configmap settings -p '{"data":{"color":"red"}}' >/dev/null) & kubectl wait --for=jsonpath='{.data.color}'=red configmap/settings --timeout=20s
kubectl wait --for=jsonpath='{.spec.replicas}'=2 widget/gear
kubectl wait --for=jsonpath='{.spec.size}' widget/gear
! kubectl wait --for=jsonpath='{.spec.none}' widget/gear --timeout=2s

## deletion and creation
# kubectl logs watches that last less than a second, hence two.
kubectl create configmap a
! kubectl wait --for=delete configmap/a --timeout=2s
(sleep 1; kubectl delete configmap a >/dev/null) & kubectl wait --for=delete configmap/a --timeout=20s
kubectl wait --for=delete configmap/a
(sleep 1; kubectl create configmap b >/dev/null) & kubectl wait --for=create configmap/b --timeout=20s
kubectl wait --for=create configmap/b
! kubectl wait --for=create configmap/c --timeout=2s
kubectl create -f widget.yaml
(sleep 1; kubectl delete widget gear >/dev/null) & kubectl wait --for=delete widget/gear --timeout=20s
