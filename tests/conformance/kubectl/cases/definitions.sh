# The life of a CustomResourceDefinition. Each case has a group of its own.

## a kind appears, is used and goes
sed "s/conformance.example.com/$NS.example.com/; s/widget/gizmo/; s/Widget/Gizmo/; s/wd/gz/; s/gadgets/things/" widgets-crd.yaml >crd.yaml
! kubectl get gizmos.$NS.example.com
kubectl create -f crd.yaml
kubectl wait --for=condition=Established crd/gizmos.$NS.example.com
kubectl wait --for=condition=NamesAccepted crd/gizmos.$NS.example.com
kubectl get crd gizmos.$NS.example.com
kubectl get crd gizmos.$NS.example.com -o yaml
eventually kubectl get gizmos.$NS.example.com
sed "s/conformance.example.com/$NS.example.com/; s/Widget/Gizmo/" widget.yaml >gizmo.yaml
kubectl create -f gizmo.yaml
kubectl get gizmos.$NS.example.com -o wide
kubectl api-resources --api-group=$NS.example.com
kubectl delete crd gizmos.$NS.example.com
! kubectl create -f gizmo.yaml

## a definition is changed
sed "s/conformance.example.com/$NS.example.com/; s/gadgets/things/" widgets-crd.yaml >crd.yaml
kubectl apply -f crd.yaml
kubectl wait --for=condition=Established crd/widgets.$NS.example.com
eventually kubectl get widgets.$NS.example.com
sed -i "s/conformance.example.com/$NS.example.com/" widget.yaml
kubectl create -f widget.yaml
sed 's/name: Color/name: Paint/; s/enum: \[small, medium, large\]/enum: [small, medium, huge]/' crd.yaml | kubectl apply -f -
eventually bash -c "kubectl get widgets.$NS.example.com | grep -q PAINT"
kubectl get widgets.$NS.example.com
! kubectl patch widgets.$NS.example.com gear --type=merge -p '{"spec":{"size":"large"}}'
kubectl patch widgets.$NS.example.com gear --type=merge -p '{"spec":{"size":"huge"}}'
kubectl patch crd widgets.$NS.example.com --type=json -p '[{"op":"replace","path":"/spec/versions/1/served","value":false}]'
! kubectl patch crd widgets.$NS.example.com --type=merge -p '{"spec":{"scope":"Cluster"}}'
! kubectl patch crd widgets.$NS.example.com --type=merge -p '{"spec":{"names":{"kind":"other kind"}}}'
! kubectl patch crd widgets.$NS.example.com --type=json -p '[{"op":"remove","path":"/spec/versions/0"}]'
kubectl get crd widgets.$NS.example.com -o jsonpath='{.status.storedVersions} {.metadata.generation}'

## a cluster-scoped kind without a schema of its own
kubectl create -f - <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: planets.$NS.example.com }
spec:
  group: $NS.example.com
  scope: Cluster
  names: { plural: planets, kind: Planet }
  versions:
    - { name: v1alpha1, served: true, storage: true, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }
END
kubectl wait --for=condition=Established crd/planets.$NS.example.com
kubectl get crd planets.$NS.example.com -o yaml
eventually kubectl get planets.$NS.example.com
kubectl create -o yaml -f - <<END
apiVersion: $NS.example.com/v1alpha1
kind: Planet
metadata: { name: earth }
moons: [{ name: moon }]
END
kubectl get planets.$NS.example.com
! kubectl patch planets.$NS.example.com earth --subresource=status --type=merge -p '{"status":{}}'
! kubectl scale planets.$NS.example.com earth --replicas=2
kubectl describe planets.$NS.example.com earth
kubectl delete planets.$NS.example.com earth

## names that are taken are not accepted
cat >star.yaml <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: stars.$NS.example.com }
spec:
  group: $NS.example.com
  scope: Cluster
  names: { plural: stars, kind: Star }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
END
kubectl create -f star.yaml
kubectl wait --for=condition=Established crd/stars.$NS.example.com
sed 's/stars/suns/' star.yaml | kubectl create -f -
kubectl wait --for=condition=NamesAccepted=false crd/suns.$NS.example.com --timeout=10s
kubectl get crd stars.$NS.example.com suns.$NS.example.com -o jsonpath='{range .items[*]}{.status.conditions}{"\n"}{end}'

## invalid definitions
# A real server lists the causes of a schema in no order.
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: wrong.example.com }
spec:
  group: other.example.com
  scope: Everywhere
  names: { plural: Things, kind: thing thing }
  versions: []
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            a: { type: strange }
            b: { items: { type: string } }
            c: { type: array }
            d: { type: object, x-kubernetes-validations: [{ rule: 'self.nothing ==' }, { rule: 'self.none == 1' }] }
            e: { type: string, default: 5 }
            f: { type: array, x-kubernetes-list-type: map, items: { type: object } }
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions: [{ name: v1, served: true, storage: true }]
END
# The cost of a rule is estimated from the bounds of what it reads.
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            list:
              type: array
              items: { type: string }
              x-kubernetes-validations: [{ rule: 'self.all(a, self.all(b, a.matches(b)))', messageExpression: 'string(size(self))' }]
END
! kubectl create -f - 2>&1 <<'END' | sort
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.k8s.io }
spec:
  group: k8s.io
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
END

## a deprecated version warns
kubectl create -f widget.yaml
kubectl get widgets.v1beta1.conformance.example.com gear -o name
kubectl label widgets.v1beta1.conformance.example.com gear a=b
kubectl apply -f - <<'END'
apiVersion: conformance.example.com/v1beta1
kind: Widget
metadata: { name: gear }
spec: { size: small, paint: red }
END
# Without managers: see docs/conformance.md, "managers of another version".
kubectl get widget gear -o yaml
