/** Volumes of a pod: each has a name and exactly one source. */

import type { ObjectMeta } from '../../../object.ts';
import { child, duplicate, forbidden, index, invalid, quote, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, nameIsSubdomain } from '../../formats.ts';
import { checkLabelName } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import type { Volume, VolumeSource } from '../types/volume.ts';
import type { PodRules } from './rules.ts';
import { volumeSources } from './volume-sources.ts';

export interface VolumeScope {
  readonly rules: PodRules;
  /** Of a pod; that of templates is ignored. */
  readonly metadata?: ObjectMeta | undefined;
}

/** Answers the volumes that containers may mount: the valid ones, by name. */
export function checkVolumes(
  errors: FieldError[],
  path: string,
  volumes: List<Volume> | undefined,
  scope: VolumeScope,
): ReadonlyMap<string, VolumeSource> {
  const usable = new Map<string, VolumeSource>();
  const podName = scope.metadata?.name ?? '';
  const created = new Set(
    (volumes ?? []).flatMap(({ name, ephemeral }) => (podName !== '' && ephemeral ? [`${podName}-${name}`] : [])),
  );
  for (const [i, volume] of (volumes ?? []).entries()) {
    const at = index(path, i);
    const { name = '', persistentVolumeClaim } = volume;
    const found: FieldError[] = [];
    checkSources(found, at, volume, scope);
    checkLabelName(found, child(at, 'name'), name);
    if (usable.has(name)) found.push(duplicate(child(at, 'name'), name));
    if (found.length === 0) usable.set(name, volume);
    errors.push(...found);
    const claimName = persistentVolumeClaim?.claimName ?? '';
    if (persistentVolumeClaim && created.has(claimName)) {
      const claimPath = child(child(at, 'persistentVolumeClaim'), 'claimName');
      errors.push(invalid(claimPath, claimName, 'must not reference a PVC that gets created for an ephemeral volume'));
    }
  }
  return usable;
}

function checkSources(errors: FieldError[], path: string, volume: Volume, scope: VolumeScope): void {
  let isFirst = true;
  for (const { name, check, label = name, refusedAs = label } of volumeSources) {
    const source = volume[name];
    if (!source) continue;
    if (isFirst) check(errors, child(path, label), source, scope);
    else if (name !== 'emptyDir') {
      errors.push(forbidden(child(path, refusedAs), 'may not specify more than 1 volume type'));
    }
    if (name === 'iscsi') checkIscsiName(errors, path, volume);
    if (name === 'ephemeral' && isFirst) checkCreatedClaim(errors, path, volume.name ?? '', scope);
    isFirst = false;
  }
  if (isFirst) errors.push(required(path, 'must specify a volume type'));
}

/** The kubelet makes a name for the session from both. */
function checkIscsiName(errors: FieldError[], path: string, { name = '', iscsi }: Volume): void {
  if (iscsi?.initiatorName === undefined || byteLength(`${name}:${iscsi.targetPortal ?? ''}`) <= 64) return;
  const reason =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  errors.push(invalid(child(path, 'name'), name, reason));
}

function checkCreatedClaim(errors: FieldError[], path: string, name: string, { metadata }: VolumeScope): void {
  if (!metadata?.name || name === '') return;
  const claimName = `${metadata.name}-${name}`;
  for (const reason of nameIsSubdomain(claimName, false)) {
    errors.push(invalid(child(path, 'name'), name, `PVC name ${quote(claimName)}: ${reason}`));
  }
}
