/**
 * The certificates and CAs of the port, while the server runs: renewed certificates apply to new connections; added CAs apply to new
 * connections, removed CAs to new requests.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import type { Listener } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { Authentication } from './authentication.ts';
import type { Credentials } from './credentials.ts';
import type { FollowedFiles } from './followed-file.ts';
import type { ServingOptions } from '../options/serving.ts';

export interface ServingPair {
  readonly key: string;
  readonly certificate: string;
  /** Files to reread both from. */
  readonly files: { readonly key: string; readonly certificate: string };
}

const renewalPeriodMs = 12 * 3_600_000;

/** Configured by the administrator, or this Hangar's own. */
export async function servingPair(
  { certificateFile, keyFile }: ServingOptions,
  { server }: Credentials,
  dataDirectory: string,
): Promise<ServingPair> {
  if (certificateFile === undefined || keyFile === undefined) {
    const own = join(dataDirectory, 'pki', 'server');
    return { ...server, files: { key: `${own}.key`, certificate: `${own}.crt` } };
  }
  try {
    const pair = { key: await readFile(keyFile, 'utf8'), certificate: await readFile(certificateFile, 'utf8') };
    checkPair(pair);
    return { ...pair, files: { key: keyFile, certificate: certificateFile } };
  } catch (error) {
    throw new UsageError(`--tls-cert-file, --tls-private-key-file: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws when the key does not match the certificate: between two writes of a renewal they may differ for a moment. */
function checkPair({ key, certificate }: { readonly key: string; readonly certificate: string }): void {
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the private key does not match the certificate');
  }
}

export interface Followed {
  readonly listener: Listener;
  readonly pair: ServingPair;
  readonly trusted: Authentication;
  readonly clientCaFile: string | undefined;
  readonly files: FollowedFiles;
}

export function followServing({ listener, pair, trusted, clientCaFile, files }: Followed): void {
  files.follow([pair.files.key, pair.files.certificate], [pair.key, pair.certificate], ([key, certificate]) => {
    checkPair({ key: key!, certificate: certificate! });
    listener.reload({ key: key!, certificate: certificate! });
  });
  if (clientCaFile === undefined) return;
  files.follow([clientCaFile], [trusted.givenCas], ([cas]) => {
    listener.reload({ clientCas: trusted.useGivenCas(cas!) });
  });
}

/** Renews certificates that this Hangar issued before they expire; followers of the files see it. */
export function renewRegularly(renew: () => Promise<unknown>, log: Logger): { close(): void } {
  const again = () => systemClock.after(renewalPeriodMs, () => void look());
  const look = async (): Promise<void> => {
    await renew().catch((error: unknown) => log.error('failed to renew certificates', { error }));
    if (!isClosed) timer = again();
  };
  let isClosed = false;
  let timer = again();
  return {
    close() {
      isClosed = true;
      timer.cancel();
    },
  };
}
