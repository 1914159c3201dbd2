/**
 * Snapshots of the restores in progress, as files. A restore verifies the backup before it changes anything, and sends it later, when the
 * pods of the members are ready: in between the file is kept. There are at most a few files; the oldest is removed for a new one, and read
 * from the backup again when it is needed.
 */

import { TargetError } from '@hangar/backup-operator';
import type { RestoreOptions } from '@hangar/backup-operator';
import { hasCode } from '@hangar/core';
import { payloadFormat, readPayload } from '../backup/payload.ts';
import type { PayloadHead } from '../backup/payload.ts';
import { spoolSnapshot } from '../backup/spool.ts';
import type { SpooledSnapshot } from '../backup/spool.ts';

export interface SpooledBackup {
  readonly head: PayloadHead;
  readonly snapshot: SpooledSnapshot;
}

const filesMax = 4;

export class Spools {
  readonly #folder: string;
  /** By the UID of the restore, oldest first. */
  readonly #spools = new Map<string, SpooledBackup>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws `Refused` if the backup is not one of a HostedControlPlane, or is damaged. */
  async get(options: Pick<RestoreOptions, 'uid' | 'open' | 'signal'>): Promise<SpooledBackup> {
    const known = this.#spools.get(options.uid);
    if (known) return known;
    const spool = await this.#read(options);
    const [oldest] = this.#spools.size >= filesMax ? this.#spools.keys() : [];
    if (oldest !== undefined) await this.drop(oldest);
    this.#spools.set(options.uid, spool);
    return spool;
  }

  async drop(uid: string): Promise<void> {
    const spool = this.#spools.get(uid);
    this.#spools.delete(uid);
    await spool?.snapshot[Symbol.asyncDispose]();
  }

  async #read({ open, signal }: Pick<RestoreOptions, 'open' | 'signal'>): Promise<SpooledBackup> {
    const restorable = await open();
    if (restorable.payload !== payloadFormat) {
      await restorable.content.return();
      const message = `the backup has the format ${JSON.stringify(restorable.payload)}, which is not one of a HostedControlPlane`;
      throw new TargetError('Refused', message);
    }
    const { head, snapshot: content } = await readPayload(restorable.content);
    try {
      const snapshot = await spoolSnapshot(content, this.#folder, signal);
      const { facts } = snapshot;
      if (facts.sha256 === head.snapshot.sha256 && facts.contentDigest === head.snapshot.contentDigest) {
        return { head, snapshot };
      }
      await snapshot[Symbol.asyncDispose]();
      throw new TargetError('Refused', 'the snapshot of the backup is not the one that its head describes');
    } catch (error) {
      if (!hasCode(error, 'StorageDamaged')) throw error;
      throw new TargetError('Refused', error.message, { cause: error });
    }
  }
}
