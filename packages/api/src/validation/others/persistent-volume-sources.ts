/** The source of a PersistentVolume: exactly one of many kinds of storage. */

import type { JsonObject } from '../../object.ts';
import { child, forbidden, invalid, key, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsLabelReasons, rangeReason } from '../formats.ts';
import {
  append,
  dnsLabelErrors,
  dnsSubdomainErrors,
  invalidFor,
  oneOfErrors,
  requiredErrors,
} from '../shared/checks.ts';
import {
  flagOf,
  isEmpty,
  isSet,
  mapOf,
  numberOf,
  optionalNumber,
  optionalStruct,
  optionalText,
} from '../shared/read.ts';
import { structOf, textOf, textsOf } from '../shared/read.ts';
import { csiDriverNameErrors } from './csi.ts';

interface Context {
  readonly path: string;
  readonly volumeName: string;
}

type Check = (path: string, source: JsonObject, context: Context, spec: JsonObject) => readonly FieldError[];

const needs =
  (...fields: readonly string[]): Check =>
  (path, source) =>
    fields.filter((field) => isEmpty(source, field)).map((field) => required(child(path, field), ''));

const withPartition =
  (name: string): Check =>
  (path, source) => {
    const partition = numberOf(source, 'partition');
    const isWrong = partition < 0 || partition > 255;
    return [
      ...requiredErrors(child(path, name), textOf(source, name)),
      ...(isWrong ? [invalid(child(path, 'partition'), partition, rangeReason(1, 255))] : []),
    ];
  };

const backstepErrors = (path: string, value: string): FieldError[] =>
  value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : [];

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

const hostPath: Check = (path, source) => {
  const value = textOf(source, 'path');
  if (value === '') return [required(child(path, 'path'), '')];
  return [
    ...backstepErrors(child(path, 'path'), value),
    ...(isSet(source, 'type') ? oneOfErrors(child(path, 'type'), textOf(source, 'type'), hostPathTypes) : []),
  ];
};

const nfs: Check = (path, source) => {
  const value = textOf(source, 'path');
  return [
    ...requiredErrors(child(path, 'server'), textOf(source, 'server')),
    ...requiredErrors(child(path, 'path'), value),
    ...(value.startsWith('/') ? [] : [invalid(child(path, 'path'), value, 'must be an absolute path')]),
  ];
};

const local: Check = (path, source, context, spec) => {
  const value = textOf(source, 'path');
  const errors = value === '' ? [required(child(path, 'path'), '')] : backstepErrors(child(path, 'path'), value);
  if (isSet(spec, 'nodeAffinity')) return errors;
  return [...errors, required(child(context.path, 'nodeAffinity'), 'Local volume requires node affinity')];
};

const secretErrors = (path: string, secret: JsonObject | undefined): FieldError[] => {
  if (!secret) return [];
  const [name, namespace] = [textOf(secret, 'name'), textOf(secret, 'namespace')];
  return [
    ...(name === '' ? [required(child(path, 'name'), '')] : dnsSubdomainErrors(child(path, 'name'), name)),
    ...(namespace === ''
      ? [required(child(path, 'namespace'), '')]
      : dnsLabelErrors(child(path, 'namespace'), namespace)),
  ];
};

const csiSecrets = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

const csi: Check = (path, source) => [
  ...csiDriverNameErrors(child(path, 'driver'), textOf(source, 'driver')),
  ...requiredErrors(child(path, 'volumeHandle'), textOf(source, 'volumeHandle')),
  ...csiSecrets.flatMap((name) => secretErrors(child(path, name), optionalStruct(source, name))),
];

const named =
  (field: string, ...parts: readonly string[]): Check =>
  (path, source) => [
    ...(field === '' ? [] : requiredErrors(child(path, field), textOf(source, field))),
    ...(isSet(source, 'secretRef')
      ? parts.flatMap((part) =>
          requiredErrors(`${path}.secretRef.${part}`, textOf(structOf(source, 'secretRef'), part)),
        )
      : []),
  ];

const glusterfs: Check = (path, source) => {
  const namespace = optionalText(source, 'endpointsNamespace');
  const at = child(path, 'endpointsNamespace');
  const rule = 'if the endpointnamespace is set, it must be a valid namespace name';
  const namespaceErrors =
    namespace === undefined ? [] : invalidFor(at, namespace, namespace === '' ? [rule] : dnsLabelReasons(namespace));
  return [
    ...requiredErrors(child(path, 'endpoints'), textOf(source, 'endpoints')),
    ...requiredErrors(child(path, 'path'), textOf(source, 'path')),
    ...namespaceErrors,
  ];
};

const flocker: Check = (path, source) => {
  const [name, uuid] = [textOf(source, 'datasetName'), textOf(source, 'datasetUUID')];
  return [
    ...(name === '' && uuid === '' ? [required(path, 'one of datasetName and datasetUUID is required')] : []),
    ...(name !== '' && uuid !== ''
      ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(name.includes('/') ? [invalid(child(path, 'datasetName'), name, "must not contain '/'")] : []),
  ];
};

const pairsMax = 16;

const quobyte: Check = (path, source) => {
  const registry = textOf(source, 'registry');
  const rule = 'must be a host:port pair or multiple pairs separated by commas';
  const errors: FieldError[] = [];
  if (registry === '') errors.push(required(child(path, 'registry'), rule));
  else if (textOf(source, 'tenant').length >= 65) {
    errors.push(required(child(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters'));
  } else {
    const wrong = registry.split(',').filter((pair) => !/^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/.test(pair));
    // Each error includes the whole text.
    errors.push(...wrong.slice(0, pairsMax).map(() => invalid(child(path, 'registry'), registry, rule)));
  }
  return [...errors, ...requiredErrors(child(path, 'volume'), textOf(source, 'volume'))];
};

const qualifiedNames: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};
/** Longer names cost more than linear time; real ones have 223 characters at most. */
const nameLengthMax = 4096;
const isQualifiedName = (name: string): boolean =>
  name.length <= nameLengthMax && (qualifiedNames[name.slice(0, 3)]?.test(name) ?? false);

const iscsi: Check = (path, source, { volumeName }) => {
  const portal = textOf(source, 'targetPortal');
  const [name, initiator] = [textOf(source, 'iqn'), optionalText(source, 'initiatorName')];
  const lun = numberOf(source, 'lun');
  const needsSecret = flagOf(source, 'chapAuthDiscovery') || flagOf(source, 'chapAuthSession');
  const errors = [...requiredErrors(child(path, 'targetPortal'), portal)];
  if (initiator !== undefined && Buffer.byteLength(`${volumeName}:${portal}`) > 64) {
    const rule =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(invalid(child(path, 'targetportal'), portal, rule));
  }
  if (name === '') errors.push(required(child(path, 'iqn'), ''));
  else if (!isQualifiedName(name)) errors.push(invalid(child(path, 'iqn'), name, 'must be valid format'));
  if (lun < 0 || lun > 255) errors.push(invalid(child(path, 'lun'), lun, rangeReason(0, 255)));
  if (needsSecret && !isSet(source, 'secretRef')) errors.push(required(child(path, 'secretRef'), ''));
  errors.push(...named('', 'name')(path, source, { path, volumeName }, {}));
  if (initiator !== undefined && !isQualifiedName(initiator)) {
    errors.push(invalid(child(path, 'initiatorname'), initiator, 'must be valid format'));
  }
  return errors;
};

const fc: Check = (path, source) => {
  const [targets, ids] = [textsOf(source, 'targetWWNs'), textsOf(source, 'wwids')];
  const lun = optionalNumber(source, 'lun');
  const at = child(path, 'targetWWNs');
  const errors: FieldError[] = [];
  if (targets.length === 0 && ids.length === 0) {
    errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'));
  }
  if (targets.length === 0) return errors;
  if (ids.length > 0) errors.push(invalid(at, targets, 'targetWWNs and wwids can not be specified simultaneously'));
  if (lun === undefined) errors.push(required(child(path, 'lun'), 'lun is required if targetWWNs is specified'));
  else if (lun < 0 || lun > 255) errors.push(invalid(child(path, 'lun'), lun, rangeReason(0, 255)));
  return errors;
};

const flexVolume: Check = (path, source) => [
  ...requiredErrors(child(path, 'driver'), textOf(source, 'driver')),
  ...Object.keys(mapOf(source, 'options'))
    .filter((name) =>
      /\.(kubernetes|k8s)\.io$/.test(`.${name.split('/', 2).length === 2 ? name.split('/')[0] : name}`.toLowerCase()),
    )
    .map((name) =>
      invalid(key(child(path, 'options'), name), name, 'kubernetes.io and k8s.io namespaces are reserved'),
    ),
];

const azureFile: Check = (path, source, context, spec) => [
  ...needs('secretName', 'shareName')(path, source, context, spec),
  ...(isSet(source, 'secretNamespace')
    ? requiredErrors(child(path, 'secretNamespace'), textOf(source, 'secretNamespace'))
    : []),
];

const azureDisk: Check = (path, source, context, spec) => {
  const [uri, kind, caching] = [
    textOf(source, 'diskURI'),
    optionalText(source, 'kind'),
    optionalText(source, 'cachingMode'),
  ];
  const errors = [...needs('diskName', 'diskURI')(path, source, context, spec)];
  if (caching !== undefined) {
    errors.push(...oneOfErrors(child(path, 'cachingMode'), caching, ['None', 'ReadOnly', 'ReadWrite']));
  }
  if (kind === undefined) return errors;
  errors.push(...oneOfErrors(child(path, 'kind'), kind, ['Dedicated', 'Managed', 'Shared']));
  const [start, form] =
    kind === 'Managed'
      ? [
          '/subscriptions/',
          '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
        ]
      : ['https://', 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'];
  if (!uri.startsWith(start)) errors.push(notSupported(child(path, 'diskURI'), uri, [form]));
  return errors;
};

const storageos: Check = (path, source, context, spec) => {
  const [name, namespace] = [textOf(source, 'volumeName'), textOf(source, 'volumeNamespace')];
  return [
    ...(name === '' ? [required(child(path, 'volumeName'), '')] : dnsLabelErrors(child(path, 'volumeName'), name)),
    ...(namespace === '' ? [] : dnsLabelErrors(child(path, 'volumeNamespace'), namespace)),
    ...named('', 'name', 'namespace')(path, source, context, spec),
  ];
};

/** In Kubernetes' order; some have another name in messages, when they are one too many or when they are invalid. */
const sources: readonly (readonly [field: string, check: Check, extraPath?: string, path?: string])[] = [
  ['hostPath', hostPath],
  ['gcePersistentDisk', withPartition('pdName'), 'gcePersistentDisk', 'persistentDisk'],
  ['awsElasticBlockStore', withPartition('volumeID')],
  ['glusterfs', glusterfs],
  ['flocker', flocker],
  ['nfs', nfs],
  ['rbd', needs('monitors', 'image')],
  ['quobyte', quobyte],
  ['cephfs', needs('monitors'), 'cephFS', 'cephfs'],
  ['iscsi', iscsi],
  ['cinder', named('volumeID', 'name', 'namespace')],
  ['fc', fc],
  ['flexVolume', flexVolume],
  ['azureFile', azureFile],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', azureDisk],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['local', local],
  ['storageos', storageos],
  ['csi', csi],
];

export const sourceNames: readonly string[] = sources.map(([field]) => field);
export const isSourceOf = (spec: JsonObject, field: string): boolean => isSet(spec, field);

export function sourceErrors(spec: JsonObject, context: Context): FieldError[] {
  const errors: FieldError[] = [];
  let isTaken = false;
  for (const [field, check, extraPath = field, ownPath = field] of sources) {
    const source = optionalStruct(spec, field);
    if (!source) continue;
    // Only flexVolume may come second without an error.
    if (isTaken && field !== 'flexVolume') {
      errors.push(forbidden(child(context.path, extraPath), 'may not specify more than 1 volume type'));
    } else {
      append(errors, check(child(context.path, ownPath), source, context, spec));
      isTaken = true;
    }
  }
  return isTaken ? errors : [...errors, required(context.path, 'must specify a volume type')];
}

/** The order and names of the server's internal type, for differences. */
const kept: Readonly<Record<string, string>> = {
  gcePersistentDisk: 'GCEPersistentDisk',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  hostPath: 'HostPath',
  glusterfs: 'Glusterfs',
  nfs: 'NFS',
  rbd: 'RBD',
  quobyte: 'Quobyte',
  iscsi: 'ISCSI',
  flexVolume: 'FlexVolume',
  cinder: 'Cinder',
  cephfs: 'CephFS',
  fc: 'FC',
  flocker: 'Flocker',
  azureFile: 'AzureFile',
  vsphereVolume: 'VsphereVolume',
  azureDisk: 'AzureDisk',
  photonPersistentDisk: 'PhotonPersistentDisk',
  portworxVolume: 'PortworxVolume',
  scaleIO: 'ScaleIO',
  local: 'Local',
  storageos: 'StorageOS',
  csi: 'CSI',
};

/** Name, its name in the API, and its zero value. */
type Member = readonly [name: string, field: string, zero: unknown];
const members: Readonly<Record<string, readonly Member[]>> = {
  hostPath: [
    ['Path', 'path', ''],
    ['Type', 'type', null],
  ],
  nfs: [
    ['Server', 'server', ''],
    ['Path', 'path', ''],
    ['ReadOnly', 'readOnly', false],
  ],
  local: [
    ['Path', 'path', ''],
    ['FSType', 'fsType', null],
  ],
  csi: [
    ['Driver', 'driver', ''],
    ['VolumeHandle', 'volumeHandle', ''],
    ['ReadOnly', 'readOnly', false],
    ['FSType', 'fsType', ''],
    ['VolumeAttributes', 'volumeAttributes', null],
    ['ControllerPublishSecretRef', 'controllerPublishSecretRef', null],
    ['NodeStageSecretRef', 'nodeStageSecretRef', null],
    ['NodePublishSecretRef', 'nodePublishSecretRef', null],
    ['ControllerExpandSecretRef', 'controllerExpandSecretRef', null],
    ['NodeExpandSecretRef', 'nodeExpandSecretRef', null],
  ],
};

/** Formats the source like the server's internal type, on several lines. The inner names of rarer sources are those of the API. */
export function sourceText(spec: JsonObject): string {
  const all = Object.entries(kept).map(([field, name]) => [name, shownSource(field, optionalStruct(spec, field))]);
  return JSON.stringify(Object.fromEntries(all), null, 1);
}

function shownSource(field: string, source: JsonObject | undefined): unknown {
  const layout = members[field];
  if (!source || !layout) return source ?? null;
  return Object.fromEntries(
    layout.map(([name, inner, zero]) => {
      const value = source[inner] ?? zero;
      return [name, inner.endsWith('SecretRef') && value !== null ? shownSecret(value as JsonObject) : value];
    }),
  );
}

const shownSecret = (secret: JsonObject): JsonObject => ({
  Name: textOf(secret, 'name'),
  Namespace: textOf(secret, 'namespace'),
});
