## what kubectl forwards
kubectl create -f configmap.yaml -f widget.yaml
cat >through.sh <<'END'
rm -f socket
kubectl proxy --append-server-path --unix-socket="$PWD/socket" >proxy.out 2>&1 &
proxy=$!
for attempt in $(seq 50); do curl -s -o curl.out --unix-socket socket http://localhost/version && break; sleep 0.1; done
"$@"
kill $proxy
END
# Indented for whoever looks like a person.
bash through.sh curl -sS --unix-socket socket http://localhost/api/v1/namespaces/$NS/configmaps/settings
bash through.sh curl -sS --unix-socket socket http://localhost/api/v1/namespaces/$NS/configmaps/none
bash through.sh curl -sSA tester --unix-socket socket -o body "http://localhost/apis?pretty=true" && head -c 40 body
bash through.sh curl -sSA tester --unix-socket socket http://localhost/api/v1/namespaces/$NS/configmaps/settings
bash through.sh curl -sSA tester --unix-socket socket http://localhost/apis/conformance.example.com/v1/namespaces/$NS/widgets/gear
bash through.sh curl -sSA tester --unix-socket socket -o /dev/null -w '%{http_code} %{content_type}\n' http://localhost/api/v1/namespaces/$NS/configmaps/none
# The order of a YAML document's members is not compared: kubectl reads it and writes it again.
bash through.sh curl -sSA tester --unix-socket socket -H 'Accept: application/yaml' http://localhost/api/v1/namespaces/$NS/configmaps/settings | kubectl create --dry-run=client -o yaml -f -
bash through.sh curl -sSA tester --unix-socket socket -H 'Accept: text/plain' http://localhost/api/v1/namespaces/$NS/configmaps/settings
bash through.sh curl -sSA tester --unix-socket socket -X POST -H 'Content-Type: text/plain' -d x http://localhost/api/v1/namespaces/$NS/configmaps
bash through.sh curl -sSA tester --unix-socket socket -X POST -H 'Content-Type: application/json' -d '{"metadata":{"name":"posted"}}' http://localhost/api/v1/namespaces/$NS/configmaps
bash through.sh curl -sSA tester --unix-socket socket -X POST -H 'Content-Type: application/json' -d '{' http://localhost/api/v1/namespaces/$NS/configmaps
bash through.sh curl -sSA tester --unix-socket socket -X PUT -H 'Content-Type: application/json' -d '{"metadata":{"name":"other"}}' http://localhost/api/v1/namespaces/$NS/configmaps/settings
bash through.sh curl -sSA tester --unix-socket socket -X DELETE http://localhost/api/v1/namespaces/$NS/configmaps/settings
bash through.sh curl -sSA tester --unix-socket socket -X DELETE http://localhost/api/v1/namespaces
bash through.sh curl -sSA tester --unix-socket socket 'http://localhost/api/v1/namespaces/'$NS'/configmaps?watch=1&timeoutSeconds=1'
# Below a built-in group a missing thing is told by a Status, elsewhere in plain text; kubectl words them differently.
bash through.sh curl -sSA tester --unix-socket socket http://localhost/api/v2 http://localhost/api/v1/nothings http://localhost/api/v1/namespaces/$NS/configmaps/x/status
bash through.sh curl -sSA tester --unix-socket socket http://localhost/apis/apps/v9 http://localhost/apis/storage.k8s.io/v1beta1/volumeattributesclasses/x
bash through.sh curl -sSA tester --unix-socket socket http://localhost/apis/conformance.example.com/v9 http://localhost/apis/conformance.example.com/v1/nothings http://localhost/nothing
