/**
 * A certificate in files, as cert-manager's secrets are mounted: `tls.crt` and `tls.key` are links into a folder that is exchanged
 * as a whole by renaming the link `..data`. Looked at again whenever something changes in the folder, and every ten seconds
 * whatever happens: not every file system tells.
 */

import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortError, asError, hasCode, sleep, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { RuntimeError } from '../../errors.ts';
import { checkPair, samePair } from './contract.ts';
import type { CertificateObserver, CertificatePair, Certificates } from './contract.ts';

export interface CertificateFolderOptions {
  /** Absent: `tls.crt`. */
  readonly certificateName?: string;
  /** Absent: `tls.key`. */
  readonly keyName?: string;
  /** Absent: ten seconds. */
  readonly pollMs?: number;
  readonly clock?: Clock;
}

/** Several changes that come together are one. */
const settleMs = 50;
/** After a failure: the other file is probably about to be written. */
const retryMs = 1_000;

export function certificateFolder(folder: string, options: CertificateFolderOptions = {}): Certificates {
  const { certificateName = 'tls.crt', keyName = 'tls.key', pollMs = 10_000, clock = systemClock } = options;
  const read = async (): Promise<CertificatePair> =>
    checkPair(await readPair(join(folder, certificateName), join(folder, keyName)));
  return {
    read,
    async watch(known, observer, signal) {
      const changes = new FolderChanges(folder, signal);
      try {
        await follow({ read, known, observer, pollMs, clock, changes, signal });
      } catch (error) {
        if (!hasCode(error, 'Aborted')) throw error;
      } finally {
        changes.close();
      }
    },
  };
}

/** Both files of one moment: when the certificate changed while the key was read, both are read again. */
async function readPair(certificateFile: string, keyFile: string): Promise<CertificatePair> {
  try {
    let certificate = await readFile(certificateFile, 'utf8');
    for (;;) {
      const key = await readFile(keyFile, 'utf8');
      const again = await readFile(certificateFile, 'utf8');
      if (again === certificate) return { certificate, key };
      certificate = again;
    }
  } catch (error) {
    throw new RuntimeError('CertificateFailed', `the certificate cannot be read: ${asError(error).message}`, {
      cause: error,
    });
  }
}

interface Following {
  readonly read: () => Promise<CertificatePair>;
  readonly known: CertificatePair;
  readonly observer: CertificateObserver;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly changes: FolderChanges;
  readonly signal: AbortSignal;
}

async function follow({ read, known, observer, pollMs, clock, changes, signal }: Following): Promise<void> {
  let current = known;
  let waitMs = pollMs;
  for (;;) {
    await changes.within(waitMs, clock);
    await sleep(clock, settleMs, signal);
    changes.forget();
    waitMs = pollMs;
    observer.onRead();
    try {
      const pair = await read();
      if (signal.aborted) throw abortError(signal);
      if (!samePair(pair, current)) observer.onChange((current = pair));
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      observer.onError(asError(error));
      waitMs = Math.min(retryMs, pollMs);
    }
  }
}

/** Says when something in a folder changed. Where it cannot, nobody is told and the clock has to do. */
class FolderChanges {
  readonly #signal: AbortSignal;
  #watcher: FSWatcher | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(folder: string, signal: AbortSignal) {
    this.#signal = signal;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => {
        this.#hasChanged = true;
        this.#wake?.();
      });
      this.#watcher.on('error', () => this.close());
    } catch {
      // The folder cannot be watched here: it is looked at by the clock.
    }
  }

  /** Resolves at a change that was not forgotten, or after this time. Rejects with Aborted. */
  async within(timeMs: number, clock: Clock): Promise<void> {
    if (this.#hasChanged) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const either = AbortSignal.any([this.#signal, woken.signal]);
    try {
      await sleep(clock, timeMs, either);
    } catch (error) {
      if (this.#signal.aborted) throw error;
    } finally {
      this.#wake = undefined;
    }
  }

  forget(): void {
    this.#hasChanged = false;
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
