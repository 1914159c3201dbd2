/** Collects the objects that a pod references, which its kubelet may read. */

import type { KubeObject } from '@hangar/api';

export type ReferencedKind = 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'serviceaccounts' | 'resourceclaims';

export interface Reference {
  readonly kind: ReferencedKind;
  /** In the namespace of the pod. */
  readonly name: string;
}

interface Named {
  readonly name?: string;
}

interface Volume extends Named {
  readonly secret?: { readonly secretName?: string };
  readonly azureFile?: { readonly secretName?: string };
  readonly configMap?: Named;
  readonly projected?: { readonly sources?: readonly { readonly secret?: Named; readonly configMap?: Named }[] };
  readonly csi?: { readonly nodePublishSecretRef?: Named };
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
  readonly cephfs?: WithSecret;
  readonly cinder?: WithSecret;
  readonly flexVolume?: WithSecret;
  readonly rbd?: WithSecret;
  readonly scaleIO?: WithSecret;
  readonly iscsi?: WithSecret;
  readonly storageos?: WithSecret;
}

interface WithSecret {
  readonly secretRef?: Named;
}

interface Container {
  readonly envFrom?: readonly { readonly secretRef?: Named; readonly configMapRef?: Named }[];
  readonly env?: readonly {
    readonly valueFrom?: { readonly secretKeyRef?: Named; readonly configMapKeyRef?: Named };
  }[];
}

interface Claim extends Named {
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly imagePullSecrets?: readonly Named[];
    readonly initContainers?: readonly Container[];
    readonly containers?: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
    readonly volumes?: readonly Volume[];
    readonly resourceClaims?: readonly Claim[];
  };
  readonly status?: {
    readonly resourceClaimStatuses?: readonly { readonly name?: string; readonly resourceClaimName?: string }[];
    readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string };
  };
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Mirror pods grant nothing: otherwise a kubelet could create one that references every secret. */
export function podReferences(pod: Pod): Reference[] {
  if (Object.hasOwn(pod.metadata.annotations ?? {}, mirrorAnnotation)) return [];
  const { spec = {} } = pod;
  const { initContainers = [], containers = [], ephemeralContainers = [], volumes = [], imagePullSecrets = [] } = spec;
  const found: [kind: ReferencedKind, names: (string | undefined)[]][] = [
    ['serviceaccounts', [spec.serviceAccountName]],
    ['secrets', imagePullSecrets.map(({ name }) => name)],
    ...[...initContainers, ...containers, ...ephemeralContainers].flatMap(ofContainer),
    ...volumes.flatMap((volume) => ofVolume(pod, volume)),
    ['resourceclaims', claims(pod)],
  ];
  return found.flatMap(([kind, names]) => names.flatMap((name) => (name ? [{ kind, name }] : [])));
}

function ofContainer({ envFrom = [], env = [] }: Container): [ReferencedKind, (string | undefined)[]][] {
  return [
    ['secrets', [...envFrom.map((one) => one.secretRef?.name), ...env.map((one) => one.valueFrom?.secretKeyRef?.name)]],
    [
      'configmaps',
      [...envFrom.map((one) => one.configMapRef?.name), ...env.map((one) => one.valueFrom?.configMapKeyRef?.name)],
    ],
  ];
}

function ofVolume(pod: Pod, volume: Volume): [ReferencedKind, (string | undefined)[]][] {
  const { secret, azureFile, configMap, projected, csi, persistentVolumeClaim, ephemeral } = volume;
  const { cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = volume;
  const sources = projected?.sources ?? [];
  const others = [cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((one) => one?.secretRef?.name);
  return [
    [
      'secrets',
      [
        secret?.secretName,
        azureFile?.secretName,
        csi?.nodePublishSecretRef?.name,
        ...others,
        ...sources.map((one) => one.secret?.name),
      ],
    ],
    ['configmaps', [configMap?.name, ...sources.map((one) => one.configMap?.name)]],
    [
      'persistentvolumeclaims',
      // The claim of an ephemeral volume is named after the pod and the volume.
      [persistentVolumeClaim?.claimName ?? (ephemeral ? `${pod.metadata.name}-${volume.name}` : undefined)],
    ],
  ];
}

/** For a template, the controller writes the name of the claim into the status. */
function claims({ spec, status }: Pod): (string | undefined)[] {
  const made = status?.resourceClaimStatuses ?? [];
  return [
    ...(spec?.resourceClaims ?? []).map(
      (claim) => claim.resourceClaimName ?? made.find(({ name }) => name === claim.name)?.resourceClaimName,
    ),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ];
}
