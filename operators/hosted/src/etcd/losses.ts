/**
 * Decides which members are lost: their data is gone or damaged, or their volume cannot be used again. A member that restarts, is slow or is
 * unreachable is not lost. A sign must stay the same for a time and be seen at least twice.
 */

import { isHealthy } from './observation.ts';
import type { EtcdObservation, MemberObservation } from './observation.ts';

export type LossReason =
  | 'DataDirectoryEmpty'
  | 'DataCorrupt'
  | 'AlarmCorrupt'
  | 'VolumeLost'
  | 'VolumeUnreachable'
  | 'NodeLost';

export interface Loss {
  readonly reason: LossReason;
  readonly sinceMs: number;
  readonly seen: number;
}

export interface LossTimes {
  /** For data that is certainly lost. Absent: 5 s. */
  readonly certainMs?: number | undefined;
  /** For volumes and nodes that could return. Absent: 10 minutes. */
  readonly absentMs?: number | undefined;
}

/** By pod. */
export type Losses = ReadonlyMap<string, Loss>;

const certain: ReadonlySet<LossReason> = new Set(['DataDirectoryEmpty', 'DataCorrupt', 'AlarmCorrupt']);

/** Returns the present sign of a loss of a member. */
export function lossSign(observation: EtcdObservation, one: MemberObservation): LossReason | undefined {
  const { member, podState, claim } = one;
  if (!member) return undefined;
  if (observation.alarms.some(({ type, member: id }) => type === 'CORRUPT' && id === member.id)) return 'AlarmCorrupt';
  if (isHealthy(one) || podState?.isReady) return undefined;
  if (claim?.isLost) return 'VolumeLost';
  if (!podState) return undefined;
  if (podState.overdueMs !== undefined && podState.overdueMs > 0) return 'NodeLost';
  if (podState.isVolumeUnreachable) return 'VolumeUnreachable';
  if (podState.dataLoss === 'Corrupt') return 'DataCorrupt';
  // A learner that is about to join starts with an empty directory: it waits for its settings.
  const isJoining = member.name === '';
  return podState.dataLoss !== undefined && !isJoining ? 'DataDirectoryEmpty' : undefined;
}

/** Returns the signs after an observation. Those that ended or changed begin again. */
export function followLosses(before: Losses, observation: EtcdObservation, nowMs: number): Losses {
  const after = new Map<string, Loss>();
  for (const one of observation.members) {
    const reason = lossSign(observation, one);
    if (reason === undefined) continue;
    const known = before.get(one.pod);
    const isSame = known?.reason === reason;
    after.set(one.pod, isSame ? { ...known, seen: known.seen + 1 } : { reason, sinceMs: nowMs, seen: 1 });
  }
  return after;
}

/** Returns the losses that are old enough to act on. */
export function confirmedLosses(losses: Losses, nowMs: number, times: LossTimes = {}): Losses {
  const { certainMs = 5_000, absentMs = 600_000 } = times;
  return new Map(
    [...losses].filter(([, { reason, sinceMs, seen }]) => {
      const ageMs = nowMs - sinceMs;
      return seen >= 2 && ageMs >= (certain.has(reason) ? certainMs : absentMs);
    }),
  );
}
