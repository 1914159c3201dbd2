/** Restores a backup through a target: verifies all bytes first, and compares the restored content with the backup. */

import type { StoredContent } from '../backup/make-backup.ts';
import type { BackupTarget, ContentSummary, RestoreOptions, TargetName } from '../target.ts';
import type { BackupWorld } from '../world.ts';
import { openBackup } from './source.ts';
import type { BackupSource } from './source.ts';

export interface RestoreRequest extends Pick<RestoreOptions, 'uid' | 'labels' | 'className' | 'signal'> {
  readonly target: BackupTarget;
  readonly name: TargetName;
  readonly mode: 'New' | 'InPlace';
  readonly source: BackupSource;
  /** Whether an earlier call verified all bytes, and the target may have been called. */
  readonly isVerified: boolean;
  /** Called when all bytes are verified, before the target is called for the first time. */
  onVerified(): Promise<void>;
}

export type RestoreResult =
  | { readonly state: 'Pending'; readonly message: string; readonly retryAfterMs: number }
  | { readonly state: 'Complete'; readonly summary: ContentSummary; readonly comparison: Comparison };

export type Comparison =
  /** The restored content is that of the backup. */
  | { readonly isEqual: true }
  /** Undefined `isEqual`: the backup does not state its content. */
  | { readonly isEqual: false | undefined; readonly message: string };

/** Throws `TargetError`s, `BackupError`s and `ReferenceFault`s. Nothing is changed before all bytes were verified. */
export async function runRestore(
  world: Pick<BackupWorld, 'destinations'>,
  { target, name, mode, source, isVerified, onVerified, ...options }: RestoreRequest,
): Promise<RestoreResult> {
  using backup = await openBackup(world, source, options.signal);
  if (!isVerified) {
    await backup.verify();
    await onVerified();
  }
  const restore: RestoreOptions = { ...options, open: () => backup.read() };
  const progress = await (mode === 'New' ? target.create(name, restore) : target.replace(name, restore));
  if (progress.state === 'Pending') return progress;
  const { summary } = progress;
  return { state: 'Complete', summary, comparison: compared(backup.content, summary) };
}

/** Compares the content of a backup with that of the restored control plane. */
export function compared(expected: StoredContent, found: ContentSummary): Comparison {
  if (expected.contentDigest === undefined) {
    return { isEqual: undefined, message: 'the backup does not state the digest of its content' };
  }
  if (expected.objects !== undefined && expected.objects !== found.objects) {
    const message = `the restored control plane has ${found.objects} objects, and the backup has ${expected.objects}`;
    return { isEqual: false, message };
  }
  if (expected.contentDigest === found.contentDigest) return { isEqual: true };
  const digests = `${found.contentDigest.slice(0, 16)} instead of ${expected.contentDigest.slice(0, 16)}`;
  return { isEqual: false, message: `the digest of the restored objects differs from that of the backup: ${digests}` };
}
