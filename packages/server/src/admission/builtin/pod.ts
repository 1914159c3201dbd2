/**
 * The fields of pods that plugins use, as in decoded objects: absent values are zero or unset, and lists and maps may be null. Fields are
 * mutable because admission changes them.
 */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { List, Maybe, SizedContainer, SizedPodSpec, SizedPodStatus } from '@hangar/api/quota';
import type { ResourceList, Resources } from '@hangar/api/quota';
import type { AdmissionRequest } from '../admission.ts';

export type { List, ResourceList, Resources };
export type TextMap = Maybe<Record<string, string>>;

interface NamedReference {
  name?: string;
}

export interface SecurityContext {
  privileged?: Maybe<boolean>;
  allowPrivilegeEscalation?: Maybe<boolean>;
  procMount?: Maybe<string>;
  runAsNonRoot?: Maybe<boolean>;
  runAsUser?: Maybe<number>;
  capabilities?: Maybe<{ add?: List<string>; drop?: List<string> }>;
  appArmorProfile?: Maybe<{ type?: string }>;
  seccompProfile?: Maybe<{ type?: string }>;
  seLinuxOptions?: Maybe<{ type?: string; user?: string; role?: string }>;
  windowsOptions?: Maybe<{ hostProcess?: Maybe<boolean> }>;
}

export interface PodSecurityContext extends SecurityContext {
  sysctls?: List<{ name?: string }>;
}

export interface Handler {
  httpGet?: Maybe<{ host?: string }>;
  tcpSocket?: Maybe<{ host?: string }>;
}

export interface Container extends SizedContainer {
  image?: string;
  imagePullPolicy?: string;
  ports?: List<{ hostPort?: number }>;
  volumeMounts?: List<{ name?: string; readOnly?: boolean; mountPath?: string }>;
  env?: List<{
    name?: string;
    valueFrom?: Maybe<{ secretKeyRef?: Maybe<NamedReference>; configMapKeyRef?: Maybe<NamedReference> }>;
  }>;
  envFrom?: List<{ secretRef?: Maybe<NamedReference>; configMapRef?: Maybe<NamedReference> }>;
  securityContext?: Maybe<SecurityContext>;
  livenessProbe?: Maybe<Handler>;
  readinessProbe?: Maybe<Handler>;
  startupProbe?: Maybe<Handler>;
  lifecycle?: Maybe<{ postStart?: Maybe<Handler>; preStop?: Maybe<Handler> }>;
}

export interface Projection {
  secret?: Maybe<NamedReference>;
  configMap?: Maybe<NamedReference>;
  serviceAccountToken?: Maybe<{ audience?: string; expirationSeconds?: number; path?: string }>;
  downwardAPI?: Maybe<JsonObject>;
  clusterTrustBundle?: Maybe<JsonObject>;
  podCertificate?: Maybe<JsonObject>;
}

/** Exactly one source is set. */
export interface Volume {
  name?: string;
  secret?: Maybe<{ secretName?: string }>;
  projected?: Maybe<{ defaultMode?: number; sources?: List<Projection> }>;
  persistentVolumeClaim?: Maybe<{ claimName?: string }>;
  ephemeral?: Maybe<{ volumeClaimTemplate?: Maybe<JsonObject> }>;
  csi?: Maybe<{ driver?: string; nodePublishSecretRef?: Maybe<NamedReference> }>;
  [source: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: Maybe<number>;
}

export interface PodSpec extends SizedPodSpec {
  containers?: List<Container>;
  initContainers?: List<Container>;
  ephemeralContainers?: List<Container>;
  volumes?: List<Volume>;
  serviceAccountName?: string;
  /** Deprecated alias of `serviceAccountName`, still present in responses. */
  serviceAccount?: string;
  automountServiceAccountToken?: Maybe<boolean>;
  imagePullSecrets?: List<NamedReference>;
  nodeName?: string;
  nodeSelector?: TextMap;
  tolerations?: List<Toleration>;
  priority?: Maybe<number>;
  preemptionPolicy?: Maybe<string>;
  runtimeClassName?: Maybe<string>;
  resourceClaims?: List<JsonObject>;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: Maybe<boolean>;
  os?: Maybe<{ name?: string }>;
  securityContext?: Maybe<PodSecurityContext>;
}

export interface PodStatus extends SizedPodStatus {
  resources?: Maybe<Resources>;
  allocatedResources?: ResourceList;
  resourceClaimStatuses?: List<{ name?: string; resourceClaimName?: Maybe<string> }>;
  extendedResourceClaimStatus?: Maybe<JsonObject>;
}

export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

export const podResources: ReadonlySet<string> = new Set(['/pods']);

/** Returns the spec of the pod. Adds an empty spec if there is none; validation rejects it later. */
export function specOf(pod: KubeObject): PodSpec {
  const { spec } = pod as Pod;
  return spec ?? ((pod as Pod).spec = {});
}

/** Returns the pod if the request creates or updates it directly, not through a subresource; otherwise undefined. */
export function podOf({ object, subresource, operation }: AdmissionRequest): Pod | undefined {
  return subresource === '' && (operation === 'CREATE' || operation === 'UPDATE') ? (object as Pod) : undefined;
}

/** Yields init containers first, in the order in which the node starts them. */
export function* allContainers({ initContainers, containers, ephemeralContainers }: PodSpec): Generator<Container> {
  yield* initContainers ?? [];
  yield* containers ?? [];
  yield* ephemeralContainers ?? [];
}

export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Reports whether the pod mirrors a static pod. The node writes such pods, and admission must not change them. */
export const isMirror = ({ metadata }: KubeObject): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined;
