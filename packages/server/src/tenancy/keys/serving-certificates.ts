/**
 * Serving certificates for the host names of tenants, issued on demand by the CA of the port's own certificate. The caller must check that
 * the name belongs to a tenant.
 */

import type { Clock, Random } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import { pki } from './pki.ts';

export interface ServingCertificatesOptions {
  /** CA of the port's own certificate. */
  readonly authority: () => KeyPair;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of names to keep; the most recently used ones stay. */
  readonly namesMax?: number;
}

const days = 90;
const renewBeforeMs = 30 * 86_400_000;
const defaultNamesMax = 1_000;

interface Issued {
  readonly authority: KeyPair;
  readonly pair: KeyPair;
  readonly renewAt: number;
}

/** Returns the same pair for the same name until it has to be renewed. */
export function servingCertificates({ authority, namesMax = defaultNamesMax, ...world }: ServingCertificatesOptions) {
  const issued = new Map<string, Issued>();
  return (name: string): KeyPair => {
    const by = authority();
    let one = issued.get(name);
    issued.delete(name);
    if (!one || one.authority !== by || one.renewAt <= world.clock.now()) one = issue(name, by, world);
    issued.set(name, one);
    if (issued.size > namesMax) issued.delete(issued.keys().next().value!);
    return one.pair;
  };
}

function issue(name: string, authority: KeyPair, world: { readonly clock: Clock; readonly random: Random }): Issued {
  const { expiresAt, issueCertificate } = pki();
  // A common name has at most 64 characters; clients check only the alternative name.
  const pair = issueCertificate(authority, { commonName: 'hangar', usage: 'server', hosts: [name], days }, world);
  return { authority, pair, renewAt: expiresAt(pair.certificate) - renewBeforeMs };
}
