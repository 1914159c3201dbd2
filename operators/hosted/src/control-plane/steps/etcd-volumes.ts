/**
 * Volumes of etcd. The claim template of a StatefulSet is immutable, so a larger size changes the claims of the members instead; the storage
 * class must allow it.
 */

import { parseQuantity } from '@hangar/api/values';
import { find } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { PersistentVolumeClaim } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { Rendered } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

/** Codes of a server that does not allow a claim to grow. */
const rejections = ['Forbidden', 'Invalid'];

export interface Volumes {
  /** The StatefulSet to apply. */
  readonly wanted: Rendered;
  /** Why volumes do not have the wanted size yet. */
  readonly growth?: Verdict | undefined;
}

/** Sets `pass.etcdVolumeSize`. */
export async function withVolumes(pass: Pass, set: Rendered): Promise<Volumes> {
  const object = set.object as StatefulSet;
  const { namespace, name } = object.metadata;
  const size = sizeIn(object);
  pass.etcdVolumeSize = size;
  const existing = await findObject(pass, StatefulSet, { namespace, name: name! });
  const first = existing && sizeIn(existing);
  if (first === undefined || first === size) return { wanted: set };
  const spec = { ...object.spec!, volumeClaimTemplates: withSize(object, first) };
  const wanted = { ...set, object: { ...object, spec } as StatefulSet };
  if (isLarger(size, first)) return { wanted, growth: await grow(pass, object, size) };
  // Volumes cannot shrink.
  pass.etcdVolumeSize = first;
  return { wanted };
}

/** Every rendered claim has a size. */
const sizeIn = ({ spec }: StatefulSet): string =>
  String(spec!.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage'] ?? '0');

const isLarger = (a: string, b: string): boolean => parseQuantity(a).nanos > parseQuantity(b).nanos;

const withSize = ({ spec }: StatefulSet, storage: string): PersistentVolumeClaim[] =>
  spec!.volumeClaimTemplates!.map((claim) => ({
    ...claim,
    spec: { ...claim.spec, resources: { requests: { storage } } },
  }));

/** Sets `pass.etcdVolumeSize` to the smallest capacity of the members. */
async function grow(pass: Pass, { metadata, spec }: StatefulSet, size: string): Promise<Verdict | undefined> {
  const { apiReader, client, world, signal } = pass;
  const { namespace } = metadata;
  for (let member = 0; member < (spec!.replicas ?? 1); member++) {
    const key = { namespace, name: `data-${metadata.name}-${member}` };
    const claim = await find(apiReader, PersistentVolumeClaim, key, { signal });
    if (!claim) continue;
    const capacity = claim.status?.capacity?.['storage'];
    if (capacity !== undefined && isLarger(pass.etcdVolumeSize!, String(capacity)))
      pass.etcdVolumeSize = String(capacity);
    if (!isLarger(size, String(claim.spec?.resources?.requests?.['storage'] ?? '0'))) continue;
    const { uid, resourceVersion } = claim.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { resources: { requests: { storage: size } } } };
    try {
      await world.writes.make(`claim-${member}`, () =>
        client.patch(PersistentVolumeClaim, key, { type: 'merge', body }, { signal }),
      );
    } catch (error) {
      if (!rejections.some((code) => hasCode(error, code))) throw error;
      const message = `PersistentVolumeClaim ${JSON.stringify(`${namespace}/${key.name}`)} cannot grow to ${size}: ${asError(error).message}`;
      return { reason: 'VolumeNotExpandable', message, isPartial: true };
    }
  }
  return undefined;
}
