/**
 * A certificate in files, as in a mounted Secret of cert-manager: `tls.crt` and `tls.key` are links into a folder that is replaced as a
 * whole by renaming the link `..data`. Reads on every change in the folder, and every ten seconds in any case: not every file system
 * reports changes.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { RuntimeError } from '../../errors.ts';
import { FolderChanges } from '../../folder-changes.ts';
import { checkPair, samePair } from './contract.ts';
import type { CertificatePair, Certificates } from './contract.ts';

export interface CertificateFolderOptions {
  /** Name of the certificate file. Absent: `tls.crt`. */
  readonly certificateName?: string;
  /** Name of the key file. Absent: `tls.key`. */
  readonly keyName?: string;
  /** Time between two checks. Absent: 10 s. */
  readonly pollMs?: number;
  readonly clock?: Clock;
}

/** After a failure: the other file is probably being written. */
const retryMs = 1_000;

/** Returns a source that reads the certificate from a folder and reloads it, for example from a mounted Secret. */
export function certificateFolder(folder: string, options: CertificateFolderOptions = {}): Certificates {
  const { certificateName = 'tls.crt', keyName = 'tls.key', pollMs = 10_000, clock = systemClock } = options;
  const read = async (): Promise<CertificatePair> =>
    checkPair(await readPair(join(folder, certificateName), join(folder, keyName)));
  return {
    read,
    async watch(known, observer, signal) {
      const everything = [{ folder, isRelevant: () => true }];
      const listen = (): FolderChanges => new FolderChanges(everything, { clock, rescanMs: pollMs, signal });
      let current = known;
      for (let changes = listen(); ;) {
        await changes.next();
        if (signal.aborted) return;
        // Created before the read, so that a change during the read wakes the next wait.
        changes = listen();
        observer.onRead();
        try {
          const pair = await read();
          if (!signal.aborted && !samePair(pair, current)) observer.onChange((current = pair));
        } catch (error) {
          if (!signal.aborted) observer.onError(asError(error));
          changes.within(Math.min(retryMs, pollMs));
        }
      }
    },
  };
}

/** Reads both files consistently: if the certificate changed while the key was read, both are read again. */
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
