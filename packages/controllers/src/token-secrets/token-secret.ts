/** Decodes a token secret. */

import type { Secret } from '@hangar/client/kinds/core-v1';

export const tokenType = 'kubernetes.io/service-account-token';
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

export interface NamedAccount {
  readonly name: string;
  /** '': not specified. */
  readonly uid: string;
}

/** Returns undefined if it names no account. */
export function accountOf({ metadata: { annotations = {} } }: Secret): NamedAccount | undefined {
  const name = annotations[accountNameAnnotation] ?? '';
  return name === '' ? undefined : { name, uid: annotations[accountUidAnnotation] ?? '' };
}

/** Reports whether all fields are present; does not compare the CA. */
export const isComplete = ({ data = {} }: Secret): boolean =>
  ['token', 'namespace', 'ca.crt'].every((name) => (data[name] ?? '') !== '');
