/** Exports a HostedControlPlane: a snapshot of one of its etcd members, verified, with the objects that a restore needs in front. */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { asError } from '@hangar/core';
import { TargetError } from '@hangar/backup-operator';
import type { ContentSummary, Exported, TargetName } from '@hangar/backup-operator';
import { annotations, HostedControlPlane, isFenced, replicaHoldOf } from '../api/index.ts';
import { memberAccess, openMaintenance } from './member-access.ts';
import type { MemberAccess } from './member-access.ts';
import { encodeHead, payloadFormat } from './payload.ts';
import type { PayloadHead } from './payload.ts';
import { planeObjects } from './plane-objects.ts';
import { spoolSnapshot } from './spool.ts';
import type { SpooledSnapshot } from './spool.ts';

export interface ExportWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  readonly reach: 'service' | 'endpoint';
  /** Folder for snapshots on their way. */
  readonly scratchFolder: string;
}

export interface ExportOptions {
  readonly includesKeys: boolean;
  readonly signal: AbortSignal;
}

/** Annotations that a restored control plane keeps. Its data does not fit in volumes that have not grown. */
const keptAnnotations = [
  annotations.rendering,
  annotations.standalone,
  annotations.exposure,
  annotations.etcdVolumeSize,
];

/** Throws `NotFound` or `NotReady`. Reads nothing of the snapshot before the content is read. */
export async function exportPlane(world: ExportWorld, target: TargetName, options: ExportOptions): Promise<Exported> {
  const { includesKeys, signal } = options;
  const object = await findPlane(world, target, signal);
  const access = await accessOf(world, object, signal);
  const etcd = await etcdVersion(access);
  if (etcd === undefined) throw notReady(object, 'no member of its etcd responds');
  const versions = { kubernetes: object.status?.version ?? object.spec.version, etcd };
  const summary = Promise.withResolvers<ContentSummary>();
  // The caller reads the summary only after the content.
  summary.promise.catch(() => {});
  async function* content(): AsyncGenerator<Uint8Array, void, void> {
    try {
      await using snapshot = await takeSnapshot(world, access, signal);
      const { revision, entries, contentDigest } = snapshot.facts;
      const objects = await planeObjects({
        reader: world.apiReader,
        namespace: object.metadata.namespace!,
        name: planeNameOf(object),
        spec: object.spec,
        includesKeys,
        signal,
      });
      yield encodeHead(headOf(object, { versions, objects, hasKeys: includesKeys, snapshot: snapshot.facts }));
      yield* snapshot.read();
      summary.resolve({ objects: entries, contentDigest, revision: String(revision) });
    } catch (error) {
      summary.reject(asError(error));
      throw error;
    }
  }
  return {
    payload: payloadFormat,
    mode: 'Dedicated',
    versions,
    hasKeys: includesKeys,
    content: content(),
    summary: () => summary.promise,
  };
}

/** Objects of a control plane are named after its Cluster, or after itself. */
export const planeNameOf = ({ metadata }: HostedControlPlane): string =>
  metadata.annotations?.[annotations.clusterName] ?? metadata.name!;

/** Throws `NotFound`. */
export async function findPlane(
  { apiReader }: Pick<ExportWorld, 'apiReader'>,
  { namespace = '', name }: TargetName,
  signal: AbortSignal,
): Promise<HostedControlPlane> {
  const object = await find(apiReader, HostedControlPlane, { namespace, name }, { signal });
  if (object) return object;
  throw new TargetError('NotFound', `HostedControlPlane ${JSON.stringify(`${namespace}/${name}`)} does not exist`);
}

/** Throws `NotReady`. */
export async function accessOf(
  { client, apiReader, reach }: ExportWorld,
  object: HostedControlPlane,
  signal: AbortSignal,
): Promise<MemberAccess> {
  if (object.metadata.annotations?.[annotations.restore] !== undefined) throw notReady(object, 'it is being restored');
  const { namespace = '' } = object.metadata;
  if (replicaHoldOf(object) !== undefined && !isFenced(object)) throw notReady(object, 'it has no data yet');
  const replicas = object.spec.etcd?.replicas ?? 3;
  const etcd = { namespace, name: planeNameOf(object), replicas, isFenced: isFenced(object) };
  const access = await memberAccess(etcd, { client, apiReader, reach, signal });
  if (!access || access.members.length === 0) throw notReady(object, 'its etcd has no members yet');
  return access;
}

/** Tries one member after the other: one that is damaged or stops must not prevent a backup. */
async function takeSnapshot(
  { scratchFolder }: ExportWorld,
  access: MemberAccess,
  signal: AbortSignal,
): Promise<SpooledSnapshot> {
  let failure: unknown;
  for (const member of access.members) {
    const etcd = openMaintenance(access, member);
    try {
      if ((await etcd.status()).isLearner) continue;
      return await spoolSnapshot(etcd.snapshot(), scratchFolder, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    } finally {
      etcd.close();
    }
  }
  throw asError(failure ?? new TargetError('NotReady', 'etcd has no voting member'));
}

/** The highest version of the members: it wrote the data. */
async function etcdVersion(access: MemberAccess): Promise<string | undefined> {
  const versions = await Promise.all(
    access.members.map(async (member) => {
      const etcd = openMaintenance(access, member);
      try {
        return (await etcd.status()).version;
      } catch {
        return undefined;
      } finally {
        etcd.close();
      }
    }),
  );
  const known = versions.filter((one) => one !== undefined);
  return known.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

function headOf(
  { metadata, spec }: HostedControlPlane,
  rest: Pick<PayloadHead, 'versions' | 'objects' | 'hasKeys' | 'snapshot'>,
): PayloadHead {
  const controlPlane = { namespace: metadata.namespace!, name: metadata.name! };
  return { controlPlane, spec, annotations: annotationsToKeep(metadata.annotations), ...rest };
}

/** Returns the annotations that are part of a backup. */
export const annotationsToKeep = (noted: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(noted).filter(([key]) => keptAnnotations.some((kept) => kept === key)));

export const notReady = ({ metadata }: HostedControlPlane, why: string): TargetError =>
  new TargetError('NotReady', `HostedControlPlane ${JSON.stringify(`${metadata.namespace}/${metadata.name}`)}: ${why}`);
