{{- define "hangar-controller-manager.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end }}

{{- define "hangar-controller-manager.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "hangar-controller-manager.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "hangar-controller-manager.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "hangar-controller-manager.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: hangar
{{- end }}

{{- define "hangar-controller-manager.instance" -}}
app.kubernetes.io/name: {{ include "hangar-controller-manager.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hangar-controller-manager.selector" -}}
{{ include "hangar-controller-manager.instance" . }}
app.kubernetes.io/component: controller-manager
{{- end }}

{{- define "hangar-controller-manager.image" -}}
{{- $repository := include "hangar-controller-manager.repository" . -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ $repository }}@{{ .digest }}
{{- else -}}
{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "hangar-controller-manager.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "hangar-controller-manager.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "hangar-controller-manager.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "hangar-controller-manager.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Who has Kubernetes' programs in it is another image. */ -}}
{{- define "hangar-controller-manager.repository" -}}
{{- .Values.image.repository | default (ternary "hangar" "hangar-controller-manager" (eq .Values.engine "essential")) -}}
{{- end }}

{{- define "hangar-controller-manager.isElsewhere" -}}
{{- if .Values.management.kubeconfigSecret.name }}true{{ end -}}
{{- end }}

{{- define "hangar-controller-manager.leaseNamespace" -}}
{{- $usual := ternary "kube-system" .Release.Namespace (eq (include "hangar-controller-manager.isElsewhere" .) "true") -}}
{{- .Values.leaseNamespace | default $usual -}}
{{- end }}

{{- /* Releases beside each other serve different clusters: each shares among its own replicas. */ -}}
{{- define "hangar-controller-manager.group" -}}
{{- include "hangar-controller-manager.fullname" . | replace "." "-" -}}
{{- end }}
