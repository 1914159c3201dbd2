/** The sources of volumes, in the order in which they are checked. */

import { child, forbidden, index, invalid, key, notSupported, required, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { byteLength, dnsSubdomainReasons, nameIsSubdomain } from '../../formats.ts';
import {
  checkDnsLabel,
  checkLabelName,
  checkOneOf,
  checkRange,
  checkReasons,
  checkRequired,
  checkRequiredOneOf,
  isEmpty,
  isSet,
} from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import { checkDescendingPath, checkFileMode, checkNoBacksteps } from '../base/paths.ts';
import { signOf } from '../base/quantities.ts';
import type { AzureDiskVolume, KeyToPath, VolumeSource } from '../types/volume.ts';
import { checkDownwardApiFile } from './downward-api.ts';
import { checkIscsi } from './iscsi.ts';
import { checkClaimTemplate } from './claim-spec.ts';
import { checkKeyToPath } from './key-to-path.ts';
import { checkProjected } from './projected-volume.ts';
import type { VolumeScope } from './volumes.ts';

type Check<T> = (errors: FieldError[], path: string, source: T, scope: VolumeScope) => void;

export interface SourceRule {
  readonly name: keyof VolumeSource;
  /** Its name in the paths of errors, if it differs. */
  readonly label?: string;
  /** Its name if it is one source too many. */
  readonly refusedAs?: string;
  readonly check: Check<unknown>;
}

const rule = <K extends keyof VolumeSource>(
  name: K,
  check: Check<NonNullable<VolumeSource[K]>>,
  labels: { readonly label?: string; readonly refusedAs?: string } = {},
): SourceRule => ({ name, check: check as Check<unknown>, ...labels });

/** Sources of which some texts are required, and no more is known. */
const needs =
  <T extends object>(...names: readonly (keyof T & string)[]) =>
  (errors: FieldError[], path: string, source: T): void => {
    for (const name of names) checkRequired(errors, child(path, name), source[name] as string | undefined);
  };

export const volumeSources: readonly SourceRule[] = [
  rule('emptyDir', (errors, path, { sizeLimit }) => {
    if (!isSet(sizeLimit) || signOf(sizeLimit) >= 0) return;
    errors.push(forbidden(child(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity'));
  }),
  rule('hostPath', (errors, path, { path: hostPath = '', type }) => {
    if (hostPath === '') {
      errors.push(required(child(path, 'path'), ''));
      return;
    }
    checkNoBacksteps(errors, child(path, 'path'), hostPath);
    if (isSet(type)) checkOneOf(errors, child(path, 'type'), type, hostPathTypes);
  }),
  rule('gitRepo', (errors, path, { repository, directory = '' }) => {
    checkRequired(errors, child(path, 'repository'), repository);
    checkDescendingPath(errors, child(path, 'directory'), directory);
  }),
  rule('gcePersistentDisk', (errors, path, source) => checkPartition(errors, path, source.pdName, 'pdName', source), {
    label: 'persistentDisk',
    refusedAs: 'gcePersistentDisk',
  }),
  rule('awsElasticBlockStore', (errors, path, source) =>
    checkPartition(errors, path, source.volumeID, 'volumeID', source),
  ),
  rule('secret', (errors, path, { secretName, defaultMode, items }) => {
    checkRequired(errors, child(path, 'secretName'), secretName);
    checkKeys(errors, path, defaultMode, items);
  }),
  rule('nfs', (errors, path, source) => {
    needs<typeof source>('server', 'path')(errors, path, source);
    const at = source.path ?? '';
    if (!at.startsWith('/')) errors.push(invalid(child(path, 'path'), at, 'must be an absolute path'));
  }),
  rule('iscsi', checkIscsi),
  rule('glusterfs', needs('endpoints', 'path')),
  rule('flocker', (errors, path, { datasetName = '', datasetUUID = '' }) => {
    if (datasetName === '' && datasetUUID === '') {
      errors.push(required(path, 'one of datasetName and datasetUUID is required'));
    }
    if (datasetName !== '' && datasetUUID !== '') {
      errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
    }
    if (datasetName.includes('/')) {
      errors.push(invalid(child(path, 'datasetName'), datasetName, "must not contain '/'"));
    }
  }),
  rule('persistentVolumeClaim', needs('claimName')),
  rule('rbd', (errors, path, { monitors, image }) => {
    if (isEmpty(monitors)) errors.push(required(child(path, 'monitors'), ''));
    checkRequired(errors, child(path, 'image'), image);
  }),
  rule('cinder', (errors, path, { volumeID, secretRef }) => {
    checkRequired(errors, child(path, 'volumeID'), volumeID);
    if (secretRef) checkRequired(errors, child(path, 'secretRef.name'), secretRef.name);
  }),
  rule(
    'cephfs',
    (errors, path, { monitors }) => {
      if (isEmpty(monitors)) errors.push(required(child(path, 'monitors'), ''));
    },
    { refusedAs: 'cephFS' },
  ),
  rule('quobyte', (errors, path, { registry = '', tenant = '', volume }) => {
    const reason = 'must be a host:port pair or multiple pairs separated by commas';
    if (registry === '') errors.push(required(child(path, 'registry'), reason));
    else if (byteLength(tenant) >= 65) {
      errors.push(required(child(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters'));
    } else {
      for (const pair of registry.split(',')) {
        if (!isHostPort(pair)) errors.push(invalid(child(path, 'registry'), registry, reason));
      }
    }
    checkRequired(errors, child(path, 'volume'), volume);
  }),
  rule(
    'downwardAPI',
    (errors, path, { defaultMode, items }) => {
      checkFileMode(errors, child(path, 'defaultMode'), defaultMode);
      for (const file of items ?? []) checkDownwardApiFile(errors, path, file);
    },
    { refusedAs: 'downwarAPI' },
  ),
  rule('fc', (errors, path, { targetWWNs, wwids, lun }) => {
    const names = child(path, 'targetWWNs');
    if (isEmpty(targetWWNs) && isEmpty(wwids)) {
      errors.push(required(names, 'must specify either targetWWNs or wwids, but not both'));
    }
    if (isEmpty(targetWWNs)) return;
    if (!isEmpty(wwids)) {
      errors.push(invalid(names, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'));
    }
    if (!isSet(lun)) errors.push(required(child(path, 'lun'), 'lun is required if targetWWNs is specified'));
    else checkRange(errors, child(path, 'lun'), lun, [0, 255]);
  }),
  rule('flexVolume', (errors, path, { driver, options }) => {
    checkRequired(errors, child(path, 'driver'), driver);
    for (const name of sortKeys(Object.keys(options ?? {}))) {
      const namespace = `.${name.split('/')[0]!.toLowerCase()}`;
      if (!/\.(?:kubernetes|k8s)\.io$/.test(namespace)) continue;
      errors.push(invalid(key(child(path, 'options'), name), name, 'kubernetes.io and k8s.io namespaces are reserved'));
    }
  }),
  rule('configMap', (errors, path, { name, defaultMode, items }) => {
    checkRequired(errors, child(path, 'name'), name);
    checkKeys(errors, path, defaultMode, items);
  }),
  rule('azureFile', needs('secretName', 'shareName')),
  rule('vsphereVolume', needs('volumePath')),
  rule('photonPersistentDisk', needs('pdID')),
  rule('portworxVolume', needs('volumeID')),
  rule('azureDisk', checkAzureDisk),
  rule('storageos', (errors, path, { volumeName = '', volumeNamespace = '', secretRef }) => {
    checkLabelName(errors, child(path, 'volumeName'), volumeName);
    if (volumeNamespace !== '') checkDnsLabel(errors, child(path, 'volumeNamespace'), volumeNamespace);
    if (secretRef) checkRequired(errors, child(path, 'secretRef.name'), secretRef.name);
  }),
  rule('projected', checkProjected),
  rule('scaleIO', needs('gateway', 'system', 'volumeName')),
  rule('csi', (errors, path, { driver = '', nodePublishSecretRef }) => {
    checkCsiDriver(errors, child(path, 'driver'), driver);
    if (!nodePublishSecretRef) return;
    const { name = '' } = nodePublishSecretRef;
    if (name === '') errors.push(required(child(path, 'nodePublishSecretRef.name'), ''));
    else checkReasons(errors, child(path, 'name'), name, nameIsSubdomain(name, false));
  }),
  rule('ephemeral', (errors, path, { volumeClaimTemplate }) => {
    const at = child(path, 'volumeClaimTemplate');
    if (!volumeClaimTemplate) errors.push(required(at, ''));
    else checkClaimTemplate(errors, at, volumeClaimTemplate);
  }),
  rule('image', (errors, path, { reference, pullPolicy = '' }, { rules }) => {
    if (rules.isPod) checkRequired(errors, child(path, 'reference'), reference);
    checkRequiredOneOf(errors, child(path, 'pullPolicy'), pullPolicy, ['Always', 'IfNotPresent', 'Never']);
  }),
];

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

function checkPartition(
  errors: FieldError[],
  path: string,
  name: string | undefined,
  nameField: string,
  { partition = 0 }: { readonly partition?: number },
): void {
  checkRequired(errors, child(path, nameField), name);
  if (partition < 0 || partition > 255) {
    errors.push(invalid(child(path, 'partition'), partition, 'must be between 1 and 255, inclusive'));
  }
}

function checkKeys(
  errors: FieldError[],
  path: string,
  defaultMode: number | undefined,
  items: List<KeyToPath> | undefined,
): void {
  checkFileMode(errors, child(path, 'defaultMode'), defaultMode);
  for (const [i, item] of (items ?? []).entries()) checkKeyToPath(errors, index(child(path, 'items'), i), item);
}

/** As Go splits it: the last colon, no others outside brackets. */
const isHostPort = (pair: string): boolean => /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair);

export function checkCsiDriver(errors: FieldError[], path: string, driver: string): void {
  if (driver === '') {
    errors.push(required(path, ''));
    return;
  }
  if (byteLength(driver) > 63) errors.push(tooLong(path, 63));
  checkReasons(errors, path, driver, dnsSubdomainReasons(driver.toLowerCase()));
}

function checkAzureDisk(
  errors: FieldError[],
  path: string,
  { diskName, diskURI = '', cachingMode, kind }: AzureDiskVolume,
): void {
  checkRequired(errors, child(path, 'diskName'), diskName);
  checkRequired(errors, child(path, 'diskURI'), diskURI);
  if (isSet(cachingMode)) {
    checkOneOf(errors, child(path, 'cachingMode'), cachingMode, ['None', 'ReadOnly', 'ReadWrite']);
  }
  if (!isSet(kind)) return;
  checkOneOf(errors, child(path, 'kind'), kind, ['Dedicated', 'Managed', 'Shared']);
  const form =
    kind === 'Managed'
      ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
      : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';
  const start = kind === 'Managed' ? '/subscriptions/' : 'https://';
  if (!diskURI.startsWith(start)) errors.push(notSupported(child(path, 'diskURI'), diskURI, [form]));
}
