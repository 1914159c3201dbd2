/** Provides the server's certificate: from files that are renewed externally, or created by this process. */

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
  /** PEM; both or none. Reloaded on change, for new connections. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Folder of the certificate that this process creates. Absent: not stored. */
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
  // Other host names of a machine are invalid in a certificate.
  return [...new Set(hosts)].filter((host) => /^[\w.:-]+$/.test(host));
}
