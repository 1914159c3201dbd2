/**
 * Removes data of uploads that a crash interrupted, from time to time, one destination after the other. Such data is not a backup, and
 * costs only space.
 */

import { asError, sleep } from '@hangar/core';
import type { Logger } from '@hangar/core';
import type { Informer, Runnable } from '@hangar/runtime';
import type { BackupDestination, ControlPlaneBackup, ControlPlaneBackupSchedule } from '../api/index.ts';
import { openBackupDestination } from '../destinations/open.ts';
import { targetOfKind } from '../world.ts';
import type { BackupWorld } from '../world.ts';

export interface IncompleteUploadsOptions extends Pick<BackupWorld, 'targets' | 'destinations' | 'clock'> {
  readonly backups: Pick<Informer<ControlPlaneBackup>, 'all'>;
  readonly schedules: Pick<Informer<ControlPlaneBackupSchedule>, 'all'>;
  readonly log: Logger;
}

export interface UsedDestination {
  readonly namespace: string;
  readonly spec: BackupDestination;
}

const periodMs = 6 * 3_600_000;
const olderThanMs = 24 * 3_600_000;
const destinationsMax = 1_000;

export const incompleteUploads = (options: IncompleteUploadsOptions): Runnable => ({
  name: 'incomplete-uploads',
  async start(signal) {
    const { clock, log } = options;
    while (!signal.aborted) {
      await sleep(clock, periodMs, signal).catch(() => undefined);
      for (const used of usedDestinations(options)) {
        if (signal.aborted) return;
        await remove(options, used, signal).catch((error: unknown) => {
          const { namespace } = used;
          if (!signal.aborted) log.warn('cannot remove incomplete uploads', { namespace, error: asError(error) });
        });
      }
    }
  },
});

/** Returns each destination once, at most `destinationsMax` of them. */
export function usedDestinations({ targets, backups, schedules }: IncompleteUploadsOptions): UsedDestination[] {
  const found = new Map<string, UsedDestination>();
  const add = (namespace: string, spec: BackupDestination): void => {
    const key = JSON.stringify([namespace, spec]);
    if (found.size < destinationsMax || found.has(key)) found.set(key, { namespace, spec });
  };
  for (const { metadata, spec } of schedules.all()) {
    const kind = spec.controlPlaneRef?.kind ?? spec.controlPlaneSelector?.kind;
    if (targetOfKind({ targets }, kind)) add(metadata.namespace!, spec.destination);
  }
  for (const { metadata, spec } of backups.all()) {
    if (targetOfKind({ targets }, spec.controlPlaneRef.kind)) add(metadata.namespace!, spec.destination);
  }
  return [...found.values()];
}

async function remove(
  { destinations, log }: IncompleteUploadsOptions,
  { namespace, spec }: UsedDestination,
  signal: AbortSignal,
): Promise<void> {
  using opened = await openBackupDestination(destinations, { spec, namespace, signal });
  const removed = await opened.destination.removeIncomplete({ olderThanMs, signal });
  if (removed > 0) log.info('removed incomplete uploads', { namespace, location: opened.location, removed });
}
