/** Those parts of the command line that say what the port shows and whom it trusts. As kube-apiserver names them. */

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
  ['--tls-cert-file FILE', "what the port shows, instead of a certificate of Hangar's own; read again when it changes"],
  ['--tls-private-key-file FILE', 'its key'],
  [
    '--pki-dir DIR',
    'CAs and the key of tokens that several servers share, made by "hangar pki init DIR" and only read here (default: those of --data-dir, made at the first start)',
  ],
];

type Values = { readonly [Name in keyof typeof servingFlags]?: string | undefined };

export function servingOptions(values: Values): ServingOptions {
  const certificateFile = values['tls-cert-file'];
  const keyFile = values['tls-private-key-file'];
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file need each other');
  }
  return { certificateFile, keyFile, clientCaFile: values['client-ca-file'], pkiDirectory: values['pki-dir'] };
}
