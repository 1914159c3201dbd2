/** Finds the API objects that a pod makes its node read. */

import { quote } from '@hangar/api';
import { hasSecrets } from '../service-account/secret-references.ts';
import { allContainers } from '../pod.ts';
import type { PodSpec, Projection, Volume } from '../pod.ts';

export interface Reference {
  readonly what: string;
  /** The volume source is unknown: it counts as a reference. */
  readonly isUnknown?: boolean;
}

export function referenceOf(spec: PodSpec): Reference | undefined {
  if (spec.serviceAccountName) return { what: 'serviceaccounts' };
  if (hasSecrets(spec)) return { what: 'secrets' };
  if (hasConfigMaps(spec)) return { what: 'configmaps' };
  if (spec.resourceClaims?.length) return { what: 'resourceclaims' };
  for (const volume of spec.volumes ?? []) {
    const reference = ofVolume(volume);
    if (reference) return reference;
  }
  return undefined;
}

function hasConfigMaps(spec: PodSpec): boolean {
  for (const { envFrom, env } of allContainers(spec)) {
    if (envFrom?.some(({ configMapRef }) => configMapRef?.name)) return true;
    if (env?.some(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)) return true;
  }
  return (
    spec.volumes?.some(
      (volume) =>
        (volume['configMap'] as { name?: string } | undefined)?.name ||
        volume.projected?.sources?.some(({ configMap }) => configMap?.name),
    ) ?? false
  );
}

/** Volume sources that do not make the node read API objects. */
const local = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
];

const remote: Readonly<Record<string, string>> = {
  configMap: 'configmaps (via configmap volumes)',
  secret: 'secrets (via secret volumes)',
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

function ofVolume(volume: Volume): Reference | undefined {
  if (local.some((source) => volume[source])) return undefined;
  const source = Object.keys(remote).find((one) => volume[one]);
  if (source !== undefined) return { what: remote[source]! };
  const { name = '', projected } = volume;
  if (!projected) return { what: `unknown volume type for volume  ${quote(name)}`, isUnknown: true };
  for (const one of projected.sources ?? []) {
    const reference = ofProjection(one, name);
    if (reference) return reference;
  }
  return undefined;
}

const projections: readonly (readonly [keyof Projection, string])[] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
];

function ofProjection(projection: Projection, volume: string): Reference | undefined {
  const found = projections.find(([source]) => projection[source]);
  if (found) return { what: found[1] };
  if (projection.downwardAPI) return undefined;
  return { what: `unknown source for projected volume ${quote(volume)}`, isUnknown: true };
}
