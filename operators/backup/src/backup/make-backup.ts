/** Makes one backup: from the export of a target to a verified record in a destination. */

import { writeContainer } from '@hangar/backup';
import type { BackupDestination, BackupKey, BackupRecord, Compression } from '@hangar/backup';
import { hasCode } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { ContentSummary, Exported } from '../target.ts';
import type { ResolvedTarget } from '../world.ts';

export interface BackupRequest extends ResolvedTarget {
  readonly destination: BackupDestination;
  /** Belongs to this backup only: an existing record was written by an earlier attempt, or by another operator. */
  readonly storedName: string;
  readonly key: BackupKey | undefined;
  readonly compression: Compression;
  readonly includesKeys: boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  /** Bytes that were stored so far. */
  onProgress(bytes: number): void;
}

/** Content of a backup, as in its record. */
export interface StoredContent extends Partial<ContentSummary> {
  readonly hasKeys?: boolean;
  readonly versions?: Readonly<Record<string, string>>;
}

/** Returns the record of the backup. A backup that is already stored is not made again. */
export async function makeBackup(request: BackupRequest): Promise<BackupRecord> {
  const { target, name, destination, storedName, signal } = request;
  const found = await ownRecord(destination, storedName, signal);
  if (found && found !== 'damaged') return found;
  const exported = await target.export(name, { signal, includesKeys: request.includesKeys });
  try {
    const container = writeContainer(exported.content, {
      manifest: {
        payload: exported.payload,
        controlPlane: { name: name.name, mode: exported.mode },
        versions: exported.versions,
        createdAt: new Date(request.clock.now()).toISOString(),
      },
      key: request.key,
      compression: request.compression,
      random: request.random,
    });
    return await destination.put(storedName, container, {
      signal,
      ifExists: found === 'damaged' ? 'replace' : 'refuse',
      onProgress: (bytes) => request.onProgress(bytes),
      facts: async () => factsOf(exported, await exported.summary()),
    });
  } catch (error) {
    if (!hasCode(error, 'AlreadyExists')) throw error;
    // Another operator was faster.
    const other = await destination.stat(storedName, { signal });
    if (!other) throw error;
    return other;
  } finally {
    await exported.content.return();
  }
}

async function ownRecord(
  destination: BackupDestination,
  storedName: string,
  signal: AbortSignal,
): Promise<BackupRecord | 'damaged' | undefined> {
  try {
    return await destination.stat(storedName, { signal });
  } catch (error) {
    if (hasCode(error, 'Corrupted')) return 'damaged';
    throw error;
  }
}

const factsOf = ({ hasKeys, versions }: Exported, summary: ContentSummary): Record<string, string> => ({
  objects: String(summary.objects),
  contentDigest: summary.contentDigest,
  revision: summary.revision,
  hasKeys: String(hasKeys),
  versions: JSON.stringify(versions),
});

/** Reads the facts of a record. Fields that the record does not have are absent. */
export function contentOf({ facts = {} }: Pick<BackupRecord, 'facts'>): StoredContent {
  const { objects, contentDigest, revision, hasKeys, versions } = facts;
  return {
    ...(objects !== undefined && { objects: Number(objects) }),
    ...(contentDigest !== undefined && { contentDigest }),
    ...(revision !== undefined && { revision }),
    ...(hasKeys !== undefined && { hasKeys: hasKeys === 'true' }),
    ...(versions !== undefined && { versions: JSON.parse(versions) as Record<string, string> }),
  };
}
