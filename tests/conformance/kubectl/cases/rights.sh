## certificate requests
openssl req -new -newkey rsa:2048 -nodes -keyout user.key -out user.csr -subj /O=people/CN=jane 2>/dev/null
cat >csr.yaml <<END
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: { name: $NS-jane }
spec:
  request: $(base64 -w0 user.csr)
  signerName: example.com/signer
  usages: [client auth]
END
kubectl create -f csr.yaml
kubectl get csr $NS-jane | sed -E 's/ (kubernetes-)?admin / <who> /'
kubectl certificate approve $NS-jane
kubectl get csr $NS-jane -o jsonpath='{.status.conditions[*].type} {.status.conditions[*].reason} {.spec.groups}'
kubectl certificate approve $NS-jane
! kubectl certificate deny $NS-jane
! kubectl certificate approve $NS-none
kubectl delete csr $NS-jane
sed 's/client auth/strange use/' csr.yaml >strange.yaml
! kubectl create -f strange.yaml

## who may do what
kubectl auth can-i create pods
kubectl auth can-i delete widgets.conformance.example.com
kubectl auth can-i get pods/log
kubectl auth can-i list nothings.example.com
kubectl auth can-i get /metrics
kubectl create --raw /apis/authorization.k8s.io/v1/selfsubjectaccessreviews -f - <<'END' | grep -o '"allowed":[a-z]*'
{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}
END
! kubectl create --raw /apis/authorization.k8s.io/v1/selfsubjectaccessreviews -f - <<'END'
{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{}}
END
! kubectl get selfsubjectaccessreviews
