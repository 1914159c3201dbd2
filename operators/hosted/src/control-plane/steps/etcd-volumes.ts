/**
 * Volumes of etcd. The claim template of a StatefulSet is immutable, so a larger size changes the claims of the members instead; the storage
 * class must allow it.
 */

import { parseQuantity } from '@hangar/api/values';
import { find } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { PersistentVolumeClaim } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { SpaceSettings } from '../../etcd/space/plan-space.ts';
import { bytesIn, etcdVolumeSizeOf, quotaArgument, quotaOf } from '../../render/index.ts';
import type { Plane, Rendered } from '../../render/index.ts';
import { findObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

/** Codes of a server that does not allow a claim to grow. */
const rejections = ['Forbidden', 'Invalid'];

export interface Volumes {
  /** Size in the claim template of the StatefulSet, which is immutable. */
  readonly templateSize: string;
  /** Smallest capacity of the members. The wanted size if they are new. */
  readonly capacity: string;
  /** Why volumes do not get the wanted size. */
  readonly growth?: Verdict | undefined;
}

/** No event reports that a volume has grown. */
const growthPeriodMs = 30_000;

/** Grows the volumes of existing members to the size in the rendered StatefulSet. */
export async function growVolumes(pass: Pass, rendered: StatefulSet): Promise<Volumes> {
  const { namespace, name } = rendered.metadata;
  const size = sizeIn(rendered);
  const existing = await findObject(pass, StatefulSet, { namespace, name: name! });
  const templateSize = existing ? sizeIn(existing) : size;
  if (templateSize === size) return { templateSize, capacity: size };
  // Volumes cannot shrink.
  if (isLarger(templateSize, size)) return { templateSize, capacity: templateSize };
  const { capacity: smallest, growth } = await grow(pass, rendered, size);
  const { clock } = pass.world;
  if (!growth && isLarger(size, smallest)) pass.wakeUps.push(clock.now() + growthPeriodMs);
  const known = pass.hostedControlPlane.status?.etcdVolumeSize;
  return { templateSize, capacity: lastingCapacity({ smallest, size, known }), growth };
}

interface Capacities {
  /** Of the claims at present. */
  readonly smallest: string;
  /** Of the spec. */
  readonly size: string;
  /** Of an earlier pass. */
  readonly known?: string | number | undefined;
}

/**
 * Volumes do not shrink: a smaller one is that of a replaced member, which has the size of the claim template until it grows. The quota must
 * not follow it, because the database can be larger.
 */
export function lastingCapacity({ smallest, size, known }: Capacities): string {
  const isKept = known !== undefined && isLarger(String(known), smallest) && !isLarger(String(known), size);
  return isKept ? String(known) : smallest;
}

/** Returns the StatefulSet with another size in its claim template. */
export function withTemplateSize(set: Rendered, storage: string): Rendered {
  const object = set.object as StatefulSet;
  if (sizeIn(object) === storage) return set;
  const volumeClaimTemplates = object.spec!.volumeClaimTemplates!.map((claim) => ({
    ...claim,
    spec: { ...claim.spec, resources: { requests: { storage } } },
  }));
  return { ...set, object: { ...object, spec: { ...object.spec!, volumeClaimTemplates } } as StatefulSet };
}

/** Default of spec.etcd.volumeSizeMax: the quota has its maximum. */
const volumeSizeMax = '20Gi';

/** Returns what the spec and the volumes allow. `plane` has the capacity of the volumes. */
export function spaceSettings(plane: Plane): SpaceSettings {
  const { volumeSize, volumeSizeMax: max = volumeSizeMax, args } = plane.spec.etcd ?? {};
  const size = etcdVolumeSizeOf(plane);
  return {
    quotaBytes: quotaOf(plane),
    hasDerivedQuota: args?.[quotaArgument] === undefined,
    sizeBytes: bytesIn(size),
    capacityBytes: bytesIn(plane.etcdCapacity ?? size),
    ...(volumeSize === undefined ? { sizeMaxBytes: bytesIn(String(max)) } : {}),
  };
}

/** Every rendered claim has a size. */
const sizeIn = ({ spec }: StatefulSet): string =>
  String(spec!.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage'] ?? '0');

const isLarger = (a: string, b: string): boolean => parseQuantity(a).nanos > parseQuantity(b).nanos;

async function grow(
  pass: Pass,
  { metadata, spec }: StatefulSet,
  size: string,
): Promise<Pick<Volumes, 'capacity' | 'growth'>> {
  const { apiReader, client, world, signal } = pass;
  const { namespace } = metadata;
  let capacity = size;
  const first = spec!.ordinals?.start ?? 0;
  for (let member = first; member < first + (spec!.replicas ?? 1); member++) {
    const key = { namespace, name: `data-${metadata.name}-${member}` };
    const claim = await find(apiReader, PersistentVolumeClaim, key, { signal });
    if (!claim) continue;
    const own = claim.status?.capacity?.['storage'];
    if (own !== undefined && isLarger(capacity, String(own))) capacity = String(own);
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
      return { capacity, growth: { reason: 'VolumeNotExpandable', message, isPartial: true } };
    }
  }
  return { capacity };
}
