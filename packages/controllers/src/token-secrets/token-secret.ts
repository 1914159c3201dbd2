/** What a token secret says. */

import type { Secret } from '@hangar/client/kinds/core-v1';

export const tokenType = 'kubernetes.io/service-account-token';
export const accountNameAnnotation = 'kubernetes.io/service-account.name';
export const accountUidAnnotation = 'kubernetes.io/service-account.uid';

export interface NamedAccount {
  readonly name: string;
  /** '': it does not say. */
  readonly uid: string;
}

/** Undefined: it names none. */
export function accountOf({ metadata: { annotations = {} } }: Secret): NamedAccount | undefined {
  const name = annotations[accountNameAnnotation] ?? '';
  return name === '' ? undefined : { name, uid: annotations[accountUidAnnotation] ?? '' };
}

/** Nothing is missing; whether the CA is the right one is another question. */
export const isComplete = ({ data = {} }: Secret): boolean =>
  ['token', 'namespace', 'ca.crt'].every((name) => (data[name] ?? '') !== '');
