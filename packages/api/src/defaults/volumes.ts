/** Defaults of volumes, persistent volumes and their claims. */

import type { JsonObject } from '../object.ts';
import { fill, fillEmpty, isAbsent, objectAt, stringAt, structAt } from './access.ts';
import { pullPolicy } from './pods.ts';
import type { Defaulter, Defaulters } from './plan.ts';

/** 0644. */
const readableMode: Defaulter = (source) => fill(source, { defaultMode: 0o644 });

export const volumeDefaulters: Defaulters = {
  'core/v1.Volume': volume,
  'core/v1.SecretVolumeSource': readableMode,
  'core/v1.ConfigMapVolumeSource': readableMode,
  'core/v1.DownwardAPIVolumeSource': readableMode,
  'core/v1.ProjectedVolumeSource': readableMode,
  'core/v1.HostPathVolumeSource': (source) => fill(source, { type: '' }),
  'core/v1.ServiceAccountTokenProjection': (source) => fill(source, { expirationSeconds: 3600 }),
  'core/v1.PersistentVolume': persistentVolume,
  'core/v1.PersistentVolumeClaim': (claim) => fillEmpty(structAt(claim, 'status'), { phase: 'Pending' }),
  'core/v1.PersistentVolumeClaimSpec': (spec) => fill(spec, { volumeMode: 'Filesystem' }),
};

/** A volume of no kind is an empty directory. */
function volume(one: JsonObject): void {
  const hasSource = Object.keys(one).some((name) => name !== 'name' && !isAbsent(one[name]));
  if (!hasSource) one['emptyDir'] = {};
  const image = objectAt(one, 'image');
  if (image !== undefined) fillEmpty(image, { pullPolicy: pullPolicy(stringAt(image, 'reference')) });
}

function persistentVolume(one: JsonObject): void {
  fillEmpty(structAt(one, 'status'), { phase: 'Pending' });
  const spec = structAt(one, 'spec');
  fillEmpty(spec, { persistentVolumeReclaimPolicy: 'Retain' });
  fill(spec, { volumeMode: 'Filesystem' });
}
