/** Volumes that put several sources into one directory. */

import { child, forbidden, index, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { nameIsSubdomain, qualifiedNameReasons } from '../../formats.ts';
import { checkReasons, checkRequired, isSet } from '../base/checks.ts';
import { checkLabelSelector } from '../base/label-selectors.ts';
import { checkFileMode, checkLocalPath } from '../base/paths.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { serverForm } from '../server-form/render.ts';
import type {
  ClusterTrustBundleProjection,
  KeyProjection,
  PodCertificateProjection,
  VolumeProjection,
  VolumeSource,
} from '../types/volume.ts';
import { checkDownwardApiFile } from './downward-api.ts';
import { checkSignerName, isKubernetesSigner } from './signer-name.ts';
import { checkKeyToPath } from './key-to-path.ts';
import type { VolumeScope } from './volumes.ts';

const conflict = 'conflicting duplicate paths';

/** Files of all sources share one directory. */
interface Directory {
  readonly path: string;
  readonly taken: Set<string>;
}

export function checkProjected(
  errors: FieldError[],
  path: string,
  { defaultMode, sources }: NonNullable<VolumeSource['projected']>,
  scope: VolumeScope,
): void {
  checkFileMode(errors, child(path, 'defaultMode'), defaultMode);
  const directory: Directory = { path, taken: new Set() };
  for (const [i, source] of (sources ?? []).entries()) {
    const at = index(child(path, 'sources'), i);
    checkSource(errors, at, source, { directory, scope });
    if (Object.values(source).filter(isSet).length > 1) {
      errors.push(forbidden(at, 'may not specify more than 1 volume type per source'));
    }
  }
}

interface Place {
  readonly directory: Directory;
  readonly scope: VolumeScope;
}

function checkSource(errors: FieldError[], path: string, source: VolumeProjection, place: Place): void {
  const { directory } = place;
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (secret) checkKeys(errors, child(path, 'secret'), secret, directory);
  if (configMap) checkKeys(errors, child(path, 'configMap'), configMap, directory);
  for (const file of downwardAPI?.items ?? []) {
    checkDownwardApiFile(errors, child(path, 'downwardAPI'), file);
    if (file.path) checkFree(errors, directory, file.path);
  }
  if (serviceAccountToken) checkToken(errors, child(path, 'serviceAccountToken'), serviceAccountToken, place);
  if (clusterTrustBundle) {
    checkTrustBundle(errors, child(path, 'clusterTrustBundle'), clusterTrustBundle, directory);
  }
  if (podCertificate) checkCertificate(errors, child(path, 'podCertificate'), podCertificate, directory);
}

function checkFree(errors: FieldError[], { path, taken }: Directory, file: string, shown = file): void {
  if (taken.has(file)) errors.push(invalid(path, shown, conflict));
  else taken.add(file);
}

function checkKeys(errors: FieldError[], path: string, source: KeyProjection, directory: Directory): void {
  checkRequired(errors, child(path, 'name'), source.name);
  for (const [i, item] of (source.items ?? []).entries()) {
    checkKeyToPath(errors, index(child(path, 'items'), i), item);
    if (item.path) checkFree(errors, directory, item.path, source.name ?? '');
  }
}

function checkToken(
  errors: FieldError[],
  path: string,
  { expirationSeconds = 0, path: file = '' }: NonNullable<VolumeProjection['serviceAccountToken']>,
  { directory, scope }: Place,
): void {
  const seconds = child(path, 'expirationSeconds');
  if (expirationSeconds < 600) {
    errors.push(invalid(seconds, expirationSeconds, 'may not specify a duration less than 10 minutes'));
  }
  if (expirationSeconds > 2 ** 32) {
    errors.push(invalid(seconds, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  if (file === '') errors.push(required(child(directory.path, 'path'), ''));
  else if (!scope.rules.allowsNonLocalTokenPaths) checkLocalPath(errors, child(directory.path, 'path'), file);
}

function checkTrustBundle(
  errors: FieldError[],
  path: string,
  bundle: ClusterTrustBundleProjection,
  directory: Directory,
): void {
  const { name, signerName, labelSelector, path: file = '' } = bundle;
  if (isSet(name) && isSet(signerName)) {
    const shown = serverForm('ClusterTrustBundleProjection', bundle);
    errors.push(invalid(path, shown, 'only one of name and signerName may be used'));
  } else if (isSet(name)) {
    if (name === '') errors.push(required(child(path, 'name'), 'must be a valid object name'));
    for (const reason of trustBundleNameReasons(name)) {
      errors.push(invalid(child(path, 'name'), name, `not a valid clustertrustbundlename: ${reason}`));
    }
    if (labelSelector) {
      const reason = 'labelSelector must be unset if name is specified';
      errors.push(invalid(child(path, 'labelSelector'), goLabelSelector(labelSelector), reason));
    }
  } else if (isSet(signerName)) {
    if (signerName === '') errors.push(required(child(path, 'signerName'), 'must be a valid signer name'));
    checkSignerName(errors, child(path, 'signerName'), signerName);
    checkLabelSelector(errors, child(path, 'labelSelector'), labelSelector);
  } else {
    errors.push(required(path, 'either name or signerName must be specified'));
  }
  checkRequired(errors, child(path, 'path'), file);
  checkLocalPath(errors, child(path, 'path'), file);
  checkFree(errors, directory, file);
}

/** Bundles of a signer start with its name, in which colons replace slashes. */
const trustBundleNameReasons = (name: string): readonly string[] =>
  nameIsSubdomain(name.slice(name.lastIndexOf(':') + 1), false);

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const secondsPerDay = 86_400;

function checkCertificate(
  errors: FieldError[],
  path: string,
  certificate: PodCertificateProjection,
  directory: Directory,
): void {
  const { signerName = '', keyType = '', maxExpirationSeconds, userAnnotations } = certificate;
  checkSignerName(errors, child(path, 'signerName'), signerName);
  for (const name of sortKeys(Object.keys(userAnnotations ?? {}))) {
    checkUserAnnotation(errors, child(path, 'userAnnotations'), name.toLowerCase());
  }
  if (!keyTypes.includes(keyType)) errors.push(notSupported(child(path, 'keyType'), keyType, keyTypes));
  if (isSet(maxExpirationSeconds)) {
    const at = child(path, 'maxExpirationSeconds');
    const max = (isKubernetesSigner(signerName) ? 1 : 91) * secondsPerDay;
    const problem = maxExpirationSeconds < 3600 ? '>= 3600' : maxExpirationSeconds > max ? `<= ${max}` : '';
    if (problem) {
      errors.push(invalid(at, maxExpirationSeconds, `if provided, maxExpirationSeconds must be ${problem}`));
    }
  }
  const files = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter(
    (name) => certificate[name],
  );
  for (const name of files) {
    checkLocalPath(errors, child(path, name), certificate[name]!);
    checkFree(errors, directory, certificate[name]!);
  }
  if (files.length === 0) {
    errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'));
  }
}

function checkUserAnnotation(errors: FieldError[], path: string, name: string): void {
  const reasons = qualifiedNameReasons(name);
  checkReasons(errors, path, name, reasons);
  if (reasons.length === 0 && !name.includes('/')) {
    errors.push(invalid(path, name, 'must be a domain-prefixed key (such as "acme.io/foo")'));
  }
}
