## a list and its changes
kubectl create configmap first
while_watching 'kubectl get configmaps -w' 'kubectl create configmap second --from-literal=a=1; kubectl label configmap second x=y; kubectl delete configmap first'

## only the changes
kubectl create configmap first
while_watching 'kubectl get configmaps --watch-only' 'kubectl create configmap second; kubectl delete configmap second'
while_watching 'kubectl get configmaps --watch-only --output-watch-events' 'kubectl create configmap second; kubectl label configmap second a=b; kubectl delete configmap second'

## one object
kubectl create configmap one
kubectl create configmap other
while_watching 'kubectl get configmap one -w --output-watch-events' 'kubectl label configmap other a=b; kubectl label configmap one a=b; kubectl delete configmap one'

## as YAML, JSON and columns
kubectl create configmap first
while_watching 'kubectl get configmaps -w -o yaml' 'kubectl patch configmap first -p "{\"data\":{\"a\":\"1\"}}"'
while_watching 'kubectl get configmaps -w -o json --output-watch-events' 'kubectl patch configmap first -p "{\"data\":{\"a\":\"2\"}}"'
while_watching 'kubectl get configmaps -w -o name' 'kubectl create configmap second'
while_watching 'kubectl get configmaps -w -o custom-columns=N:.metadata.name,D:.data.a' 'kubectl patch configmap first -p "{\"data\":{\"a\":\"3\"}}"'
while_watching 'kubectl get configmaps -w -o jsonpath={.metadata.name}{\" \"}' 'kubectl delete configmap first'

## objects come into a selector and go out of it
kubectl create configmap a
while_watching 'kubectl get configmaps -w -l color=red --output-watch-events' 'kubectl label configmap a color=red; kubectl label configmap a size=big; kubectl label configmap a color=blue --overwrite; kubectl create configmap b'
kubectl create -f pod.yaml
while_watching 'kubectl get pods -w --field-selector=status.phase=Running --output-watch-events' 'kubectl patch pod web --subresource=status -p "{\"status\":{\"phase\":\"Running\"}}"; kubectl patch pod web --subresource=status -p "{\"status\":{\"phase\":\"Succeeded\"}}"'

## custom resources
kubectl create -f widget.yaml
while_watching 'kubectl get widgets -w' 'kubectl scale widget gear --replicas=5; kubectl patch widget gear --subresource=status --type=merge -p "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"; kubectl delete widget gear'
while_watching 'kubectl get widgets -w --field-selector=spec.color=red --output-watch-events -o name' 'kubectl create -f widget.yaml; kubectl patch widget gear --type=merge -p "{\"spec\":{\"color\":\"red\"}}"; kubectl patch widget gear --type=merge -p "{\"spec\":{\"color\":\"blue\"}}"'

## several columns and namespaces
kubectl create -f deployment.yaml
while_watching "kubectl get deployments -A -w -l app=shop --field-selector=metadata.namespace=$NS -o wide" 'kubectl scale deployment shop --replicas=1; kubectl patch deployment shop --subresource=status --type=merge -p "{\"status\":{\"replicas\":1,\"readyReplicas\":1}}"'
while_watching 'kubectl get pods -w --show-labels' 'kubectl create -f pod.yaml; kubectl delete pod web --now'

## a watch ends with its time
kubectl create configmap one
kubectl get configmaps -w --request-timeout=2s
kubectl get --raw "/api/v1/namespaces/$NS/configmaps?watch=1&timeoutSeconds=1"
# Only the text: see docs/conformance.md, "a client's fault called the server's".
! kubectl get --raw "/api/v1/namespaces/$NS/configmaps?watch=1&resourceVersion=nonsense" 2>&1 | sed 's/ (BadRequest)//'
kubectl get --raw "/api/v1/namespaces/$NS/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
! kubectl get --raw "/api/v1/namespaces/$NS/configmaps?watch=1&timeoutSeconds=1&sendInitialEvents=true"

## events as they happen
kubectl create configmap conf
while_watching 'kubectl events --watch' 'sed "s/NAMESPACE/$NS/" network-and-config.yaml | tail -n 10 | kubectl create -f -'
kubectl events
kubectl events --for=configmap/conf
kubectl events --types=Warning
kubectl events -o yaml
kubectl events --no-headers
! kubectl events --types=Strange
