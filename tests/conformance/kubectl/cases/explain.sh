# Descriptions of built-in kinds are prose that Hangar does not carry; see without_prose.

## a built-in kind
kubectl explain pods | without_prose
kubectl explain pod.spec | without_prose
kubectl explain deployment.spec.strategy | without_prose
kubectl explain pods.spec.containers.ports | without_prose
kubectl explain pods.spec.containers.resources.limits | without_prose
kubectl explain pods.spec.restartPolicy | without_prose
kubectl explain services.spec.ports.targetPort | without_prose
kubectl explain deployments.metadata.managedFields | without_prose
kubectl explain secrets.data | without_prose
kubectl explain events.firstTimestamp | without_prose

## a built-in kind with everything in it
kubectl explain deployments --recursive | without_prose
kubectl explain customresourcedefinitions --recursive | without_prose
kubectl explain networkpolicies --recursive | without_prose
kubectl explain pods --recursive | without_prose

## a kind of more than one version
kubectl explain hpa --api-version=autoscaling/v1 | without_prose
kubectl explain hpa.spec --api-version=autoscaling/v2 | without_prose
kubectl explain events --api-version=events.k8s.io/v1 | without_prose
kubectl explain cronjobs.batch.spec | without_prose

## a custom resource, in its own words
kubectl explain widgets | without_prose
kubectl explain widgets.spec
kubectl explain wd.spec.size
kubectl explain widgets.spec.parts
kubectl explain widgets.spec.parts.name
kubectl explain widgets.spec.settings
kubectl explain widgets.spec.port
kubectl explain widgets.spec --recursive
kubectl explain widgets.status.conditions
kubectl explain widgets.metadata | without_prose
kubectl explain widgets.spec --api-version=conformance.example.com/v1beta1

## what does not exist
! kubectl explain nothings
! kubectl explain pods.spec.nothing
! kubectl explain widgets.spec.nothing
! kubectl explain pods --api-version=apps/v1
! kubectl explain pods.spec.containers.name.first

## as OpenAPI v2 knew it
kubectl explain pods.spec.containers --output=plaintext-openapiv2 | without_prose
kubectl explain widgets.spec --output=plaintext-openapiv2
kubectl explain deployments --recursive --output=plaintext-openapiv2 | without_prose

## every kind, with everything in it
# A custom resource of another case may come and go: only built-in kinds. In four parts: a step has a minute, on a busy machine, too.
kubectl api-resources -o name --sort-by=name | grep -v -e example.com -e tenancy.hangar.dev | sed -n '1~4p' | while read -r kind; do echo "== $kind"; kubectl explain "$kind" --recursive | without_prose; done
kubectl api-resources -o name --sort-by=name | grep -v -e example.com -e tenancy.hangar.dev | sed -n '2~4p' | while read -r kind; do echo "== $kind"; kubectl explain "$kind" --recursive | without_prose; done
kubectl api-resources -o name --sort-by=name | grep -v -e example.com -e tenancy.hangar.dev | sed -n '3~4p' | while read -r kind; do echo "== $kind"; kubectl explain "$kind" --recursive | without_prose; done
kubectl api-resources -o name --sort-by=name | grep -v -e example.com -e tenancy.hangar.dev | sed -n '4~4p' | while read -r kind; do echo "== $kind"; kubectl explain "$kind" --recursive | without_prose; done
