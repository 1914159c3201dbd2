## what apply would change
! kubectl diff -f configmap.yaml
kubectl apply -f configmap.yaml
kubectl diff -f configmap.yaml
sed 's/blue/red/; /size/d' configmap.yaml >changed.yaml
! kubectl diff -f changed.yaml
kubectl apply -f deployment.yaml
! sed 's/replicas: 3/replicas: 5/; s/1.27/1.28/' deployment.yaml | kubectl diff -f -

## what server-side apply would change
! kubectl diff --server-side -f configmap.yaml
kubectl apply --server-side -f configmap.yaml
kubectl diff --server-side -f configmap.yaml
sed 's/blue/red/; /size/d' configmap.yaml >changed.yaml
! kubectl diff --server-side -f changed.yaml
! kubectl diff --server-side --field-manager=other -f changed.yaml
! kubectl diff --server-side --field-manager=other --force-conflicts -f changed.yaml
! kubectl diff --server-side --show-managed-fields -f changed.yaml | grep '^[+-]'

## secrets are masked
kubectl create secret generic s --from-literal=a=1
! kubectl create secret generic s --from-literal=a=2 --dry-run=client -o yaml | kubectl diff -f -

## custom resources
! kubectl diff -f widget.yaml
kubectl apply -f widget.yaml
kubectl diff -f widget.yaml
! sed 's/medium/large/' widget.yaml | kubectl diff -f -
! sed 's/medium/huge/' widget.yaml | kubectl diff -f -
! sed 's/medium/large/' widget.yaml | kubectl diff --server-side -f -
