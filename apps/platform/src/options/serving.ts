/** Flags of the port's certificates and trusted CAs, named as in kube-apiserver. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpRow } from '@hangar/core/command-line';

export interface ServingOptions {
  /** Both or none: absent, this Hangar issues its own. */
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  /** More CAs of users' certificates. */
  readonly clientCaFile: string | undefined;
  /** Of CAs and keys that several servers share; absent: of the data directory, made at the first start. */
  readonly pkiDirectory: string | undefined;
}

const text = { type: 'string' } as const;

export const servingFlags = {
  'tls-cert-file': text,
  'tls-private-key-file': text,
  'client-ca-file': text,
  'pki-dir': text,
} as const;

export const servingHelp: readonly HelpRow[] = [
  ['--tls-cert-file FILE', 'serving certificate; reloaded when it changes (default: a generated certificate)'],
  ['--tls-private-key-file FILE', 'private key of --tls-cert-file'],
  [
    '--pki-dir DIR',
    'CAs and token signing key that several servers share, created by "hangar pki init DIR"; never written by the server (default: those in --data-dir, created at the first start)',
  ],
];

type Values = { readonly [Name in keyof typeof servingFlags]?: string | undefined };

export function servingOptions(values: Values): ServingOptions {
  const certificateFile = values['tls-cert-file'];
  const keyFile = values['tls-private-key-file'];
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file must be set together');
  }
  return { certificateFile, keyFile, clientCaFile: values['client-ca-file'], pkiDirectory: values['pki-dir'] };
}
