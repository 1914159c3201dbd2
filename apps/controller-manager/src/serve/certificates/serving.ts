/** Where the server's certificate comes from: files that somebody else renews, or this process itself. */

import { hostname } from 'node:os';
import { basename, dirname, relative, resolve } from 'node:path';
import { asError } from '@hangar/core';
import type { World } from '@hangar/pki';
import { certificateFolder } from '@hangar/runtime/webhooks';
import type { Certificates } from '@hangar/runtime/webhooks';
import { isAnyAddress } from '../addresses.ts';
import { ServeError } from '../errors.ts';
import { ownCertificate } from './own.ts';

export interface CertificateOptions {
  /** PEM; both or none. Followed: what is put in their place serves new connections. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Where one is kept that this process makes. Absent: nowhere. */
  readonly certDir?: string | undefined;
}

/** Throws, and its `read` rejects with, CertificateUnusable. */
export function servingCertificates(options: CertificateOptions, bindAddress: string, world: World): Certificates {
  const { certFile, keyFile, certDir } = options;
  if (certFile === undefined && keyFile === undefined) {
    return ownCertificate({ folder: certDir, hosts: ownHosts(bindAddress), world });
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new ServeError('CertificateUnusable', 'the certificate and the private key must be set together');
  }
  const folder = dirname(resolve(certFile));
  const followed = certificateFolder(folder, {
    certificateName: basename(certFile),
    keyName: relative(folder, resolve(keyFile)),
    clock: world.clock,
  });
  return {
    read: () => followed.read().catch((error: unknown) => Promise.reject(unusable(error))),
    watch: (known, observer, signal) => followed.watch(known, observer, signal),
  };
}

const unusable = (cause: unknown): ServeError =>
  new ServeError('CertificateUnusable', asError(cause).message, { cause });

function ownHosts(bindAddress: string): string[] {
  const hosts = ['localhost', '127.0.0.1', '::1', hostname(), ...(isAnyAddress(bindAddress) ? [] : [bindAddress])];
  // What else a machine may be called is no name in a certificate.
  return [...new Set(hosts)].filter((host) => /^[\w.:-]+$/.test(host));
}
