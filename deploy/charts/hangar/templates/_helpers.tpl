{{- define "hangar.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- define "hangar.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "hangar.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "hangar.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "hangar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: hangar
{{- end }}

{{- define "hangar.instance" -}}
app.kubernetes.io/name: {{ include "hangar.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hangar.selector" -}}
{{ include "hangar.instance" . }}
app.kubernetes.io/component: server
{{- end }}

{{- define "hangar.etcd.selector" -}}
{{ include "hangar.instance" . }}
app.kubernetes.io/component: etcd
{{- end }}

{{- /* The labels of everything in the release that is not the servers'. */ -}}
{{- define "hangar.labelsOf" -}}
{{- include "hangar.labels" .context | replace "component: server" (printf "component: %s" .component) -}}
{{- end }}

{{- define "hangar.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "hangar.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hangar.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "hangar.pkiSecret" -}}
{{- default (printf "%s-pki" (include "hangar.fullname" .)) .Values.pki.secretName -}}
{{- end }}

{{- define "hangar.serviceHost" -}}
{{ include "hangar.fullname" . }}.{{ .Release.Namespace }}.svc
{{- end }}

{{- /* The Service: where this cluster reaches the servers. */ -}}
{{- define "hangar.internalUrl" -}}
https://{{ include "hangar.serviceHost" . }}{{ if ne (int .Values.service.port) 443 }}:{{ .Values.service.port }}{{ end }}
{{- end }}

{{- define "hangar.externalUrl" -}}
{{- .Values.externalUrl | default (include "hangar.internalUrl" .) -}}
{{- end }}

{{- define "hangar.etcdEndpoints" -}}
{{- if .Values.etcd.enabled -}}
{{- $name := printf "%s-etcd" (include "hangar.fullname" .) -}}
{{- range $at := until (int .Values.etcd.replicas) -}}
{{ if $at }},{{ end }}http://{{ $name }}-{{ $at }}.{{ $name }}.{{ $.Release.Namespace }}.svc:2379
{{- end -}}
{{- else -}}
{{- if not .Values.etcd.endpoints }}{{ fail "etcd.endpoints: where is etcd? Or, for a trial, etcd.enabled" }}{{ end -}}
{{- join "," .Values.etcd.endpoints -}}
{{- end -}}
{{- end }}

{{- define "hangar.usesEtcdTls" -}}
{{- if and .Values.etcd.tls.secretName (not .Values.etcd.enabled) }}yes{{ end -}}
{{- end }}

{{- /* What `hangar up --config` reads: flags by their names. */ -}}
{{- define "hangar.config" -}}
{{- $host := include "hangar.fullname" . -}}
{{- $service := include "hangar.serviceHost" . -}}
{{- $names := list $host (printf "%s.%s" $host .Release.Namespace) $service (printf "%s.%s" $service .Values.clusterDomain) -}}
{{- $config := dict
  "data-dir" "/var/lib/hangar"
  "pki-dir" "/etc/hangar/pki"
  "encryption-provider-config" "/etc/hangar/pki/encryption.yaml"
  "token-file" "/etc/hangar/pki/tokens.csv"
  "listen" "0.0.0.0:6443"
  "host" (concat $names .Values.hosts)
  "internal-url" (include "hangar.internalUrl" .)
  "external-url" (include "hangar.externalUrl" .)
  "store" "etcd"
  "etcd-endpoints" (include "hangar.etcdEndpoints" .)
  "etcd-compaction-interval" .Values.etcd.compactionInterval
  "leader-elect" true
  "no-demo" true
-}}
{{- if include "hangar.usesEtcdTls" . -}}
{{- $_ := set $config "etcd-cafile" "/etc/hangar/etcd/ca.crt" -}}
{{- $_ := set $config "etcd-certfile" "/etc/hangar/etcd/tls.crt" -}}
{{- $_ := set $config "etcd-keyfile" "/etc/hangar/etcd/tls.key" -}}
{{- end -}}
{{- $address := .Values.advertiseAddress | default (ternary "" .Values.service.clusterIP (eq .Values.service.clusterIP "None")) -}}
{{- if $address }}{{- $_ := set $config "advertise-address" $address -}}{{- end -}}
{{- toYaml (merge (deepCopy .Values.config) $config) -}}
{{- end }}

{{- define "hangar.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "hangar.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The newest that the cluster serves: TLSRoute was alpha for years. */ -}}
{{- define "hangar.tlsRouteVersion" -}}
{{- $found := "gateway.networking.k8s.io/v1alpha2" -}}
{{- range list "v1alpha3" "v1" -}}
{{- $version := printf "gateway.networking.k8s.io/%s" . -}}
{{- if $.Capabilities.APIVersions.Has (printf "%s/TLSRoute" $version) }}{{ $found = $version }}{{ end -}}
{{- end -}}
{{- $found -}}
{{- end }}
