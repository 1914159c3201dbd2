/** Volumes of pods: one of many sources. See `pod.ts` for the meaning of absent fields. */

import type { ObjectMeta } from '../../../object.ts';
import type { List, TextMap } from '../base/checks.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { ObjectFieldSelector, ResourceFieldSelector } from './pod.ts';

export interface SecretReference {
  readonly name?: string;
}

export interface KeyToPath {
  readonly key?: string;
  readonly path?: string;
  readonly mode?: number;
}

export interface DownwardApiFile {
  readonly path?: string;
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly mode?: number;
}

export interface KeyProjection {
  readonly name?: string;
  readonly items?: List<KeyToPath>;
}

export interface ClusterTrustBundleProjection {
  readonly name?: string;
  readonly signerName?: string;
  readonly labelSelector?: LabelSelector;
  readonly path?: string;
}

export interface PodCertificateProjection {
  readonly signerName?: string;
  readonly keyType?: string;
  readonly maxExpirationSeconds?: number;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly certificateChainPath?: string;
  readonly userAnnotations?: TextMap;
}

export interface VolumeProjection {
  readonly secret?: KeyProjection;
  readonly configMap?: KeyProjection;
  readonly downwardAPI?: { readonly items?: List<DownwardApiFile> };
  readonly serviceAccountToken?: { readonly expirationSeconds?: number; readonly path?: string };
  readonly clusterTrustBundle?: ClusterTrustBundleProjection;
  readonly podCertificate?: PodCertificateProjection;
}

export interface IscsiVolume {
  readonly targetPortal?: string;
  readonly iqn?: string;
  readonly lun?: number;
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: SecretReference;
  readonly initiatorName?: string;
}

export interface AzureDiskVolume {
  readonly diskName?: string;
  readonly diskURI?: string;
  readonly cachingMode?: string;
  readonly kind?: string;
}

export interface TypedReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: List<string>;
  readonly selector?: LabelSelector;
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
  readonly storageClassName?: string;
  readonly volumeMode?: string;
  readonly dataSource?: TypedReference;
  readonly dataSourceRef?: TypedReference;
  readonly volumeAttributesClassName?: string;
}

export interface PersistentVolumeClaim {
  readonly metadata?: ObjectMeta;
  readonly spec?: PersistentVolumeClaimSpec;
}

export interface VolumeSource {
  readonly emptyDir?: { readonly sizeLimit?: string };
  readonly hostPath?: { readonly path?: string; readonly type?: string };
  readonly gitRepo?: { readonly repository?: string; readonly directory?: string };
  readonly gcePersistentDisk?: { readonly pdName?: string; readonly partition?: number };
  readonly awsElasticBlockStore?: { readonly volumeID?: string; readonly partition?: number };
  readonly secret?: { readonly secretName?: string; readonly defaultMode?: number; readonly items?: List<KeyToPath> };
  readonly nfs?: { readonly server?: string; readonly path?: string };
  readonly iscsi?: IscsiVolume;
  readonly glusterfs?: { readonly endpoints?: string; readonly path?: string };
  readonly flocker?: { readonly datasetName?: string; readonly datasetUUID?: string };
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly rbd?: { readonly monitors?: List<string>; readonly image?: string };
  readonly cinder?: { readonly volumeID?: string; readonly secretRef?: SecretReference };
  readonly cephfs?: { readonly monitors?: List<string> };
  readonly quobyte?: { readonly registry?: string; readonly volume?: string; readonly tenant?: string };
  readonly downwardAPI?: { readonly defaultMode?: number; readonly items?: List<DownwardApiFile> };
  readonly fc?: { readonly targetWWNs?: List<string>; readonly wwids?: List<string>; readonly lun?: number };
  readonly flexVolume?: { readonly driver?: string; readonly options?: TextMap };
  readonly configMap?: { readonly name?: string; readonly defaultMode?: number; readonly items?: List<KeyToPath> };
  readonly azureFile?: { readonly secretName?: string; readonly shareName?: string };
  readonly vsphereVolume?: { readonly volumePath?: string };
  readonly photonPersistentDisk?: { readonly pdID?: string };
  readonly portworxVolume?: { readonly volumeID?: string };
  readonly azureDisk?: AzureDiskVolume;
  readonly storageos?: {
    readonly volumeName?: string;
    readonly volumeNamespace?: string;
    readonly secretRef?: SecretReference;
  };
  readonly projected?: { readonly defaultMode?: number; readonly sources?: List<VolumeProjection> };
  readonly scaleIO?: { readonly gateway?: string; readonly system?: string; readonly volumeName?: string };
  readonly csi?: { readonly driver?: string; readonly nodePublishSecretRef?: SecretReference };
  readonly ephemeral?: { readonly volumeClaimTemplate?: PersistentVolumeClaim };
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string };
}

export interface Volume extends VolumeSource {
  readonly name?: string;
}
