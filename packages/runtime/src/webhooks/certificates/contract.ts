/** Sources of serving certificates that report renewals. */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { asError } from '@hangar/core';
import { RuntimeError } from '../../errors.ts';

/** A certificate, optionally with its chain, and its private key, in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateObserver {
  /** Called with a new valid pair. */
  onChange(pair: CertificatePair): void;
  /** Called after each read, changed or not. */
  onRead(): void;
  onError(error: Error): void;
}

/** A source of serving certificates. */
export interface Certificates {
  /** Reads the pair. Rejects with `CertificateFailed`. */
  read(): Promise<CertificatePair>;
  /** Reports changes of the pair until the signal is aborted. `known` is the current pair of the server. */
  watch(known: CertificatePair, observer: CertificateObserver, signal: AbortSignal): Promise<void>;
}

/** Throws `CertificateFailed` if a server cannot serve with the pair. */
export function checkPair(pair: CertificatePair): CertificatePair {
  let belongs: boolean;
  try {
    belongs = new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key));
  } catch (error) {
    throw new RuntimeError('CertificateFailed', `the certificate cannot be used: ${asError(error).message}`, {
      cause: error,
    });
  }
  if (!belongs) throw new RuntimeError('CertificateFailed', 'the private key does not match the certificate');
  return pair;
}

export const samePair = (a: CertificatePair, b: CertificatePair): boolean =>
  a.certificate === b.certificate && a.key === b.key;

/** Returns a source with a fixed pair. */
export function givenCertificate(pair: CertificatePair): Certificates {
  return {
    read: async () => checkPair(pair),
    watch: async () => {},
  };
}
