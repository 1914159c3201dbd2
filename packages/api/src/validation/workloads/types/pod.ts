/**
 * The parts of pods that validation checks, as decoded: absent is zero or unset. Lists and maps may be null. Fields without rules are left
 * out.
 */

import type { ObjectMeta } from '../../../object.ts';
import type { List, TextMap } from '../base/checks.ts';
import type { IntOrString } from '../base/int-or-percent.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { Volume } from './volume.ts';

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath?: string;
}

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly resource?: string;
  readonly divisor?: string;
}

export interface KeySelector {
  readonly name?: string;
  readonly key?: string;
}

export interface EnvVarSource {
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly configMapKeyRef?: KeySelector;
  readonly secretKeyRef?: KeySelector;
  readonly fileKeyRef?: { readonly key?: string; readonly volumeName?: string; readonly path?: string };
}

export interface EnvVar {
  readonly name?: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}

export interface EnvFromSource {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name?: string };
  readonly secretRef?: { readonly name?: string };
}

export interface VolumeMount {
  readonly name?: string;
  readonly mountPath?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
  readonly mountPropagation?: string;
  readonly recursiveReadOnly?: string;
}

export interface VolumeDevice {
  readonly name?: string;
  readonly devicePath?: string;
}

export interface Handler {
  readonly exec?: { readonly command?: List<string> };
  readonly httpGet?: {
    readonly path?: string;
    readonly port?: IntOrString;
    readonly scheme?: string;
    readonly httpHeaders?: List<{ readonly name?: string }>;
  };
  readonly tcpSocket?: { readonly port?: IntOrString };
  readonly grpc?: { readonly port?: number };
  readonly sleep?: { readonly seconds?: number };
}

export interface Probe extends Handler {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface Lifecycle {
  readonly postStart?: Handler;
  readonly preStop?: Handler;
  readonly stopSignal?: string;
}

export interface ResourceRequirements {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
  readonly claims?: List<{ readonly name?: string; readonly request?: string }>;
}

export interface ProfileField {
  readonly type?: string;
  readonly localhostProfile?: string;
}

export interface WindowsOptions {
  readonly gmsaCredentialSpecName?: string;
  readonly gmsaCredentialSpec?: string;
  readonly runAsUserName?: string;
  readonly hostProcess?: boolean;
}

export interface SecurityContext {
  readonly capabilities?: { readonly add?: List<string>; readonly drop?: List<string> };
  readonly privileged?: boolean;
  readonly seLinuxOptions?: object;
  readonly windowsOptions?: WindowsOptions;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly procMount?: string;
  readonly seccompProfile?: ProfileField;
  readonly appArmorProfile?: ProfileField;
}

export interface ResizePolicy {
  readonly resourceName?: string;
  readonly restartPolicy?: string;
}

export interface RestartRule {
  readonly action?: string;
  readonly exitCodes?: { readonly operator?: string; readonly values?: List<number> };
}

export interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly terminationMessagePolicy?: string;
  readonly ports?: List<ContainerPort>;
  readonly env?: List<EnvVar>;
  readonly envFrom?: List<EnvFromSource>;
  readonly volumeMounts?: List<VolumeMount>;
  readonly volumeDevices?: List<VolumeDevice>;
  readonly resources?: ResourceRequirements;
  readonly resizePolicy?: List<ResizePolicy>;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: List<RestartRule>;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
  readonly securityContext?: SecurityContext;
}

export interface EphemeralContainer extends Container {
  readonly targetContainerName?: string;
}

export interface PodSecurityContext {
  readonly fsGroup?: number;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly supplementalGroups?: List<number>;
  readonly sysctls?: List<{ readonly name?: string; readonly value?: string }>;
  readonly fsGroupChangePolicy?: string;
  readonly seccompProfile?: ProfileField;
  readonly appArmorProfile?: ProfileField;
  readonly windowsOptions?: WindowsOptions;
  readonly seLinuxOptions?: object;
  readonly supplementalGroupsPolicy?: string;
  readonly seLinuxChangePolicy?: string;
}

export interface NodeSelectorRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: List<string>;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: List<NodeSelectorRequirement>;
  readonly matchFields?: List<NodeSelectorRequirement>;
}

export interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms?: List<NodeSelectorTerm> };
  readonly preferredDuringSchedulingIgnoredDuringExecution?: List<{
    readonly weight?: number;
    readonly preference?: NodeSelectorTerm;
  }>;
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: List<string>;
  readonly topologyKey?: string;
  readonly matchLabelKeys?: List<string>;
  readonly mismatchLabelKeys?: List<string>;
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: List<PodAffinityTerm>;
  readonly preferredDuringSchedulingIgnoredDuringExecution?: List<{
    readonly weight?: number;
    readonly podAffinityTerm?: PodAffinityTerm;
  }>;
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface TopologySpreadConstraint {
  readonly maxSkew?: number;
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
  readonly matchLabelKeys?: List<string>;
}

export interface PodDnsConfig {
  readonly nameservers?: List<string>;
  readonly searches?: List<string>;
  readonly options?: List<{ readonly name?: string }>;
}

export interface PodResourceClaim {
  readonly name?: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodSpec {
  readonly volumes?: List<Volume>;
  readonly initContainers?: List<Container>;
  readonly containers?: List<Container>;
  readonly ephemeralContainers?: List<EphemeralContainer>;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly dnsPolicy?: string;
  readonly nodeSelector?: TextMap;
  readonly serviceAccountName?: string;
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly hostUsers?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly securityContext?: PodSecurityContext;
  readonly imagePullSecrets?: List<{ readonly name?: string }>;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly hostnameOverride?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly affinity?: Affinity;
  readonly tolerations?: List<Toleration>;
  readonly hostAliases?: List<{ readonly ip?: string; readonly hostnames?: List<string> }>;
  readonly priorityClassName?: string;
  readonly preemptionPolicy?: string;
  readonly dnsConfig?: PodDnsConfig;
  readonly readinessGates?: List<{ readonly conditionType?: string }>;
  readonly runtimeClassName?: string;
  readonly overhead?: ResourceList;
  readonly topologySpreadConstraints?: List<TopologySpreadConstraint>;
  readonly os?: { readonly name?: string };
  readonly schedulingGates?: List<{ readonly name?: string }>;
  readonly resourceClaims?: List<PodResourceClaim>;
  readonly resources?: ResourceRequirements;
  readonly schedulingGroup?: { readonly podGroupName?: string };
}

export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}
