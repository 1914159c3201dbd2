/** PersistentVolume, and the volumes that a VolumeAttachment describes in itself. */

import { posix } from 'node:path';
import type { JsonObject, KubeObject } from '../../object.ts';
import { child, forbidden, invalid, key, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsSubdomainErrors, immutableErrors, oneOfErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { hasInvalidNodeValues, nodeSelectorErrors } from '../shared/node-selectors.ts';
import { positiveQuantityErrors, unitsOf } from '../shared/quantities.ts';
import { isSet, mapOf, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { unifiedDiff } from '../workloads/server-form/unified-diff.ts';
import { expressionWarnings } from './deprecated-node-labels.ts';
import { isSourceOf, sourceErrors, sourceNames, sourceText } from './persistent-volume-sources.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'];
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

export function accessModeErrors(path: string, modes: readonly string[]): FieldError[] {
  const errors = modes.flatMap((mode) => oneOfErrors(path, mode, accessModes));
  const known = new Set(modes.filter((mode) => accessModes.includes(mode)));
  if (known.has('ReadWriteOncePod') && known.size > 1) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

interface Context {
  readonly path: string;
  readonly volumeName: string;
  /** In a VolumeAttachment, where only fields for a driver are allowed. */
  readonly isInline: boolean;
  readonly toleratesInvalidValues: boolean;
}

const inlineOnly = 'may not be specified in the context of inline volumes';

export function volumeSpecErrors(spec: JsonObject, context: Context): FieldError[] {
  const { path, isInline } = context;
  const modes = textsOf(spec, 'accessModes');
  return [
    ...(isInline ? inlineErrors(path, spec) : []),
    ...(modes.length === 0 ? [required(child(path, 'accessModes'), '')] : []),
    ...accessModeErrors(child(path, 'accessModes'), modes),
    ...(isInline ? [] : capacityErrors(child(path, 'capacity'), spec)),
    ...reclaimErrors(
      child(path, 'persistentVolumeReclaimPolicy'),
      textOf(spec, 'persistentVolumeReclaimPolicy'),
      isInline,
    ),
    ...affinityErrors(spec, context),
    ...sourceErrors(spec, context),
    ...rootErrors(path, spec),
    ...classErrors(spec, context),
    ...modeErrors(child(path, 'volumeMode'), spec, isInline),
    ...attributesClassErrors(path, spec),
  ];
}

const inlineErrors = (path: string, spec: JsonObject): FieldError[] => [
  ...(isSet(spec, 'claimRef') ? [forbidden(child(path, 'claimRef'), inlineOnly)] : []),
  ...(Object.keys(mapOf(spec, 'capacity')).length > 0 ? [forbidden(child(path, 'capacity'), inlineOnly)] : []),
  ...(isSet(spec, 'csi') ? [] : [required(child(path, 'csi'), 'has to be specified in the context of inline volumes')]),
];

function capacityErrors(path: string, spec: JsonObject): FieldError[] {
  const capacity = mapOf(spec, 'capacity');
  const names = Object.keys(capacity);
  const errors = names.length === 0 ? [required(path, '')] : [];
  if (names.length !== 1 || names[0] !== 'storage') {
    errors.push(notSupported(path, isSet(spec, 'capacity') ? capacity : null, ['storage']));
  }
  for (const name of names) {
    errors.push(...quantityErrors(key(path, name), capacity[name]!));
    errors.push(...positiveQuantityErrors(key(path, name), capacity[name]!));
  }
  return errors;
}

export function quantityErrors(path: string, quantity: string): FieldError[] {
  const units = unitsOf(quantity);
  return units < 0n ? [invalid(path, Number(units), 'must be a valid resource quantity')] : [];
}

function reclaimErrors(path: string, policy: string, isInline: boolean): readonly FieldError[] {
  if (policy === '') return [];
  if (!isInline) return oneOfErrors(path, policy, reclaimPolicies);
  return policy === 'Retain' ? [] : [forbidden(path, 'may only be Retain in the context of inline volumes')];
}

function affinityErrors(spec: JsonObject, { path, isInline, toleratesInvalidValues }: Context): FieldError[] {
  const affinity = optionalStruct(spec, 'nodeAffinity');
  const at = child(path, 'nodeAffinity');
  if (!affinity) return [];
  if (isInline) return [forbidden(at, inlineOnly)];
  const selector = optionalStruct(affinity, 'required');
  const selectorPath = child(at, 'required');
  if (!selector) return [required(selectorPath, 'must specify required node constraints')];
  return nodeSelectorErrors(selectorPath, selector, { invalidValues: toleratesInvalidValues });
}

function rootErrors(path: string, spec: JsonObject): FieldError[] {
  const hostPath = optionalStruct(spec, 'hostPath');
  const isRecycled = textOf(spec, 'persistentVolumeReclaimPolicy') === 'Recycle';
  // An empty path has nothing to recycle; elsewhere it is the current folder.
  const isRoot = hostPath !== undefined && posix.normalize(textOf(hostPath, 'path')).replace(/(?<=.)\/$/, '') === '/';
  if (!isRoot || !isRecycled) return [];
  return [forbidden(child(path, 'persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'")];
}

function classErrors(spec: JsonObject, { path, isInline }: Context): FieldError[] {
  const name = textOf(spec, 'storageClassName');
  const at = child(path, 'storageClassName');
  if (name === '') return [];
  return isInline ? [forbidden(at, inlineOnly)] : dnsSubdomainErrors(at, name);
}

function modeErrors(path: string, spec: JsonObject, isInline: boolean): readonly FieldError[] {
  if (!isSet(spec, 'volumeMode')) return [];
  const mode = textOf(spec, 'volumeMode');
  if (!isInline) return oneOfErrors(path, mode, volumeModes);
  if (mode === 'Filesystem') return [];
  return [forbidden(path, 'may not specify volumeMode other than Filesystem in the context of inline volumes')];
}

function attributesClassErrors(path: string, spec: JsonObject): FieldError[] {
  if (!isSet(spec, 'volumeAttributesClassName')) return [];
  const name = textOf(spec, 'volumeAttributesClassName');
  const at = child(path, 'volumeAttributesClassName');
  return [
    ...(name === '' ? [required(at, 'an empty string is disallowed')] : dnsSubdomainErrors(at, name)),
    ...(isSet(spec, 'csi')
      ? []
      : [required(child(path, 'csi'), 'has to be specified when using volumeAttributesClassName')]),
  ];
}

const requiredNodes = (object: KubeObject | undefined): JsonObject | undefined =>
  optionalStruct(structOf(structOf(object, 'spec'), 'nodeAffinity'), 'required');

const volumeErrors = (object: KubeObject, old: KubeObject | undefined): FieldError[] =>
  volumeSpecErrors(structOf(object, 'spec'), {
    path: 'spec',
    volumeName: object.metadata.name ?? '',
    isInline: false,
    toleratesInvalidValues: hasInvalidNodeValues(requiredNodes(old)),
  });

/** Annotation with options that only the older drivers support. */
const mountOptions = 'volume.beta.kubernetes.io/mount-options';
const drivers = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

function mountOptionErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  if (drivers.some((driver) => isSet(spec, driver))) return [];
  if (!Object.hasOwn(object.metadata.annotations ?? {}, mountOptions)) return [];
  return [forbidden(`metadata.annotations.${mountOptions}`, 'may not specify mount options for this volume type')];
}

/** The source of a volume is immutable; only the secret for its expansion may be added later. */
function sourceChangeErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  const [csi, oldCsi] = [optionalStruct(spec, 'csi'), optionalStruct(oldSpec, 'csi')];
  const addsSecret = csi && oldCsi && !isSet(oldCsi, 'controllerExpandSecretRef');
  const { controllerExpandSecretRef: _secret, ...withoutSecret } = csi ?? {};
  const now = addsSecret ? { ...spec, csi: withoutSecret } : spec;
  if (sourceNames.every((name) => equalValues(now[name], oldSpec[name]))) return [];
  const difference = unifiedDiff(sourceText(oldSpec), sourceText(now));
  return [
    forbidden('spec.persistentvolumesource', `spec.persistentvolumesource is immutable after creation\n${difference}`),
  ];
}

const gaLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
};

/** Returns the old affinity with the current names of labels if the new one has them: such a replacement is not a change. */
function withNewLabels(affinity: JsonObject | undefined, old: JsonObject): unknown {
  const terms = (one: JsonObject | undefined): readonly JsonObject[] =>
    structsOf(structOf(one, 'required'), 'nodeSelectorTerms');
  const renamed = terms(old).map((term, at) =>
    Object.fromEntries(
      ['matchExpressions', 'matchFields'].map((field) => [
        field,
        structsOf(term, field).map((requirement, i) => {
          const name = textOf(structsOf(terms(affinity)[at], field)[i], 'key');
          const before = textOf(requirement, 'key');
          // Kubernetes looks names up in a map, where those without a successor have an empty one.
          return (Object.hasOwn(gaLabels, before) ? gaLabels[before] : '') === name
            ? { ...requirement, key: name }
            : requirement;
        }),
      ]),
    ),
  );
  return isSet(old, 'required') ? { ...old, required: { nodeSelectorTerms: renamed } } : old;
}

function affinityChangeErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  const [affinity, old] = [optionalStruct(spec, 'nodeAffinity'), optionalStruct(oldSpec, 'nodeAffinity')];
  if (!old || equalValues(affinity, withNewLabels(affinity, old))) return [];
  const rule = 'field is immutable, except for updating from beta label to GA';
  return [invalid('nodeAffinity', shownAffinity(affinity), rule)];
}

function shownAffinity(affinity: JsonObject | undefined): unknown {
  if (!affinity) return null;
  const selector = optionalStruct(affinity, 'required');
  const requirements = (term: JsonObject, field: string): unknown =>
    isSet(term, field)
      ? structsOf(term, field).map((one) => ({
          Key: textOf(one, 'key'),
          Operator: textOf(one, 'operator'),
          Values: isSet(one, 'values') ? one['values'] : null,
        }))
      : null;
  const terms = structsOf(selector, 'nodeSelectorTerms').map((term) => ({
    MatchExpressions: requirements(term, 'matchExpressions'),
    MatchFields: requirements(term, 'matchFields'),
  }));
  return { Required: selector ? { NodeSelectorTerms: terms } : null };
}

function updateErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [spec, oldSpec] = [structOf(object, 'spec'), structOf(old, 'spec')];
  const errors = volumeErrors(object, old);
  const isClassGone = isSet(oldSpec, 'volumeAttributesClassName') && !isSet(spec, 'volumeAttributesClassName');
  return [
    // Kubernetes validates the volume twice on updates.
    ...errors,
    ...mountOptionErrors(object),
    ...errors,
    ...sourceChangeErrors(spec, oldSpec),
    ...immutableErrors('volumeMode', spec['volumeMode'], oldSpec['volumeMode']),
    ...affinityChangeErrors(spec, oldSpec),
    ...(isClassGone
      ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : []),
  ];
}

const deprecatedSources: readonly (readonly [field: string, path: string, since: string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

const deprecatedAnnotations: readonly (readonly [name: string, advice: string])[] = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  [mountOptions, 'deprecated since v1.31; use "mountOptions" attribute instead'],
];

function volumeWarnings(object: KubeObject): string[] {
  const spec = structOf(object, 'spec');
  const annotations = object.metadata.annotations ?? {};
  const isRecycled = textOf(spec, 'persistentVolumeReclaimPolicy') === 'Recycle';
  return [
    ...deprecatedAnnotations
      .filter(([name]) => Object.hasOwn(annotations, name))
      .map(([name, advice]) => `metadata.annotations[${name}]: ${advice}`),
    ...(isRecycled
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : []),
    ...structsOf(requiredNodes(object), 'nodeSelectorTerms').flatMap((term, at) =>
      expressionWarnings(`spec.nodeAffinity.required.nodeSelectorTerms[${at}]`, term),
    ),
    ...deprecatedSources
      .filter(([field]) => isSourceOf(spec, field))
      .map(([, path, since]) => `spec.${path}: ${since}`),
  ];
}

export const persistentVolume: KindValidation = {
  create: (object) => [...volumeErrors(object, undefined), ...mountOptionErrors(object)],
  update: (object, old, subresource) => (subresource === 'status' ? [] : updateErrors(object, old)),
  warnings: volumeWarnings,
};
