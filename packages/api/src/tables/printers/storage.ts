/** Volumes, claims, classes, CSI. */

import type { KubeObject } from '../../object.ts';
import { ageOf } from '../age.ts';
import { none } from '../selector-text.ts';
import { printer, unset } from './printer.ts';
import type { Printers } from './printer.ts';

type Quantities = Readonly<Record<string, string>>;

interface Volume {
  readonly spec?: {
    readonly capacity?: Quantities;
    readonly accessModes?: readonly string[];
    readonly persistentVolumeReclaimPolicy?: string;
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
  };
  readonly status?: { readonly phase?: string; readonly reason?: string };
}

interface Claim {
  readonly spec?: {
    readonly volumeName?: string;
    readonly storageClassName?: string;
    readonly volumeAttributesClassName?: string;
    readonly volumeMode?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly accessModes?: readonly string[];
    readonly capacity?: Quantities;
  };
}

interface StorageClass {
  readonly provisioner?: string;
  readonly reclaimPolicy?: string;
  readonly volumeBindingMode?: string;
  readonly allowVolumeExpansion?: boolean;
}

interface Attachment {
  readonly spec?: {
    readonly attacher?: string;
    readonly nodeName?: string;
    readonly source?: { readonly persistentVolumeName?: string };
  };
  readonly status?: { readonly attached?: boolean };
}

interface CSIDriver {
  readonly spec?: {
    readonly attachRequired?: boolean;
    readonly podInfoOnMount?: boolean;
    readonly storageCapacity?: boolean;
    readonly tokenRequests?: readonly { readonly audience?: string }[];
    readonly requiresRepublish?: boolean;
    readonly volumeLifecycleModes?: readonly string[];
  };
}

const modeNames = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

const modesCell = (modes: readonly string[] = []): string =>
  modeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');

/** The annotation is from before there was a field. */
const classCell = ({ metadata, spec }: KubeObject & (Volume | Claim)): string =>
  metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';

const phaseCell = ({ metadata, status }: KubeObject & (Volume | Claim)): string =>
  metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating';

const sizeCell = (capacity: Quantities | undefined): string => capacity?.['storage'] ?? '0';

const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const storagePrinters: Printers = {
  '/PersistentVolume': printer<Volume>((volume, now) => {
    const { spec = {}, status } = volume;
    return [
      volume.metadata.name,
      sizeCell(spec.capacity),
      modesCell(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? '',
      phaseCell(volume),
      spec.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
      classCell(volume),
      spec.volumeAttributesClassName ?? unset,
      status?.reason ?? '',
      ageOf(volume, now),
      spec.volumeMode ?? unset,
    ];
  }),
  '/PersistentVolumeClaim': printer<Claim>((claim, now) => {
    const { spec = {}, status } = claim;
    const isBound = Boolean(spec.volumeName);
    return [
      claim.metadata.name,
      phaseCell(claim),
      spec.volumeName ?? '',
      isBound ? sizeCell(status?.capacity) : '',
      isBound ? modesCell(status?.accessModes) : '',
      classCell(claim),
      spec.volumeAttributesClassName ?? unset,
      ageOf(claim, now),
      spec.volumeMode ?? unset,
    ];
  }),
  'storage.k8s.io/StorageClass': printer<StorageClass>((storageClass, now) => {
    const { name, annotations } = storageClass.metadata;
    const isDefault = defaultAnnotations.some((key) => annotations?.[key] === 'true');
    return [
      isDefault ? `${name} (default)` : name,
      storageClass.provisioner ?? '',
      storageClass.reclaimPolicy ?? 'Delete',
      storageClass.volumeBindingMode ?? 'Immediate',
      storageClass.allowVolumeExpansion ?? false,
      ageOf(storageClass, now),
    ];
  }),
  'storage.k8s.io/VolumeAttributesClass': printer<{ driverName?: string }>((attributesClass, now) => [
    attributesClass.metadata.name,
    attributesClass.driverName ?? '',
    ageOf(attributesClass, now),
  ]),
  'storage.k8s.io/VolumeAttachment': printer<Attachment>((attachment, now) => [
    attachment.metadata.name,
    attachment.spec?.attacher ?? '',
    attachment.spec?.source?.persistentVolumeName ?? '',
    attachment.spec?.nodeName ?? '',
    attachment.status?.attached ?? false,
    ageOf(attachment, now),
  ]),
  'storage.k8s.io/CSINode': printer<{ spec?: { drivers?: readonly object[] } }>((node, now) => [
    node.metadata.name,
    node.spec?.drivers?.length ?? 0,
    ageOf(node, now),
  ]),
  'storage.k8s.io/CSIDriver': printer<CSIDriver>((driver, now) => {
    const { spec = {} } = driver;
    const requests = spec.tokenRequests ?? [];
    return [
      driver.metadata.name,
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      requests.length === 0 ? unset : requests.map(({ audience }) => audience ?? '').join(','),
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || none,
      ageOf(driver, now),
    ];
  }),
};
