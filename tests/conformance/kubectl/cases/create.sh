## from a file, as YAML, as JSON and from standard input
kubectl create -f configmap.yaml
! kubectl create -f configmap.yaml
kubectl get configmap settings -o yaml --show-managed-fields
kubectl create -f pod.yaml -o yaml
kubectl create -f deployment.yaml -o json
echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"as-json"},"data":{"a":"1"}}' | kubectl create -f - -o json
kubectl create -f service.yaml -o name
kubectl get deployment shop -o yaml --show-managed-fields
kubectl get pod web -o yaml --show-managed-fields

## a custom resource
kubectl create -f widget.yaml
! kubectl create -f widget.yaml
kubectl get widget gear -o yaml --show-managed-fields
kubectl create -o yaml -f - <<'END'
apiVersion: conformance.example.com/v1beta1
kind: Widget
metadata: { name: older }
spec: { size: large, paint: red }
END
kubectl get widget older -o yaml

## with a generated name
kubectl create -o yaml -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: { generateName: gen- }
END
kubectl create -f - <<'END'
apiVersion: conformance.example.com/v1
kind: Widget
metadata: { generateName: gen- }
spec: { size: small }
END

## generators of configuration
kubectl create configmap literal --from-literal=a=1 --from-literal=b=two -o yaml
printf 'one=1\ntwo=2\n' >pairs.env
printf 'a\0b\377' >binary.bin
kubectl create configmap from-file --from-file=pairs.env --from-file=renamed=pairs.env --from-file=binary.bin -o yaml
kubectl create configmap from-env --from-env-file=pairs.env -o yaml
kubectl create secret generic plain --from-literal=password=guess -o yaml
kubectl create secret docker-registry pull --docker-server=registry.example.com --docker-username=u --docker-password=p -o yaml
openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -subj /CN=example.com -days 2 2>/dev/null
kubectl create secret tls cert --cert=tls.crt --key=tls.key
kubectl get secret cert -o jsonpath='{.type}'
kubectl create serviceaccount robot -o yaml
kubectl create quota few --hard=pods=5,requests.cpu=2 -o yaml

## generators of workloads
kubectl create deployment front --image=nginx:1.27 --replicas=2 --port=80 -o yaml
kubectl create job once --image=busybox -o yaml -- echo hello
kubectl create cronjob nightly --image=busybox --schedule='0 3 * * *' -o yaml -- date
kubectl create job by-hand --from=cronjob/nightly -o yaml
! kubectl create job by-hand --from=cronjob/nothing
kubectl create poddisruptionbudget front --selector=app=front --min-available=1 -o yaml
kubectl run single --image=nginx:1.27 --labels=app=single --port=80 --env=A=1 -o yaml
kubectl run dry --image=nginx --dry-run=server -o yaml
! kubectl get pod dry

## generators of services
kubectl create service clusterip one --tcp=80:8080 -o yaml
kubectl create service nodeport two --tcp=80:8080 --tcp=443 -o yaml
kubectl create service loadbalancer three --tcp=80 -o yaml
kubectl create service externalname four --external-name=example.com -o yaml
kubectl create service clusterip headless --clusterip=None --tcp=5432 -o yaml
kubectl create ingress site --rule='example.com/shop*=shop:80' --rule='example.com/api=api:http,tls=cert' -o yaml
kubectl get services
kubectl get services -o wide
kubectl get ingress

## generators of cluster-scoped objects
kubectl create namespace $NS-new -o yaml
! kubectl create namespace $NS-new
kubectl create clusterrole $NS-role --verb=get,list --resource=pods,deployments.apps -o yaml
kubectl create clusterrole $NS-paths --verb=get --non-resource-url=/logs/* -o yaml
kubectl create clusterrole $NS-sum --aggregation-rule=rbac.example.com/aggregate=true -o yaml
kubectl create clusterrolebinding $NS-binding --clusterrole=$NS-role --user=jane --serviceaccount=$NS:robot -o yaml
kubectl create priorityclass $NS-urgent --value=1000 --description=urgent --preemption-policy=Never -o yaml

## generators of rights
kubectl create role reader --verb=get,list,watch --resource=pods,pods/log -o yaml
kubectl create role named --verb=get --resource=configmaps --resource-name=settings -o yaml
kubectl create rolebinding reader --role=reader --user=jane --group=people --serviceaccount=$NS:robot -o yaml
! kubectl create role broken --verb=get --resource=nothings
kubectl get roles,rolebindings -o wide

## dry runs leave nothing
kubectl create -f configmap.yaml --dry-run=server
kubectl create -f configmap.yaml --dry-run=client -o yaml
kubectl create -f widget.yaml --dry-run=server -o yaml
! kubectl get configmap settings
! kubectl get widget gear
kubectl create configmap settings
! kubectl create -f configmap.yaml --dry-run=server

## many at once
kubectl create -f workloads.yaml
! kubectl create -f workloads.yaml
kubectl get all
kubectl get all -o wide
mkdir folder && cp configmap.yaml service.yaml folder/ && kubectl create -f folder
kubectl create --save-config -f pod.yaml
kubectl get pod web -o jsonpath='{.metadata.annotations}'

## a token
# Tokens themselves come with service accounts.
kubectl create serviceaccount robot
! kubectl create token nobody
