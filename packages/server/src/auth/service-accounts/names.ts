/** Service accounts as users: names, groups and extra fields. */

import { dnsLabelReasons, dnsSubdomainReasons } from '@hangar/api';
import { credentialId } from '../user.ts';
import type { User } from '../user.ts';

const prefix = 'system:serviceaccount:';

export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

export const usernameOf = ({ namespace, name }: AccountName): string => `${prefix}${namespace}:${name}`;

/** Returns undefined if it is not the user name of a service account. */
export function accountNameOf(username: string): AccountName | undefined {
  if (!username.startsWith(prefix)) return undefined;
  const [namespace = '', name = '', ...rest] = username.slice(prefix.length).split(':');
  if (rest.length > 0 || dnsLabelReasons(namespace).length > 0 || dnsSubdomainReasons(name).length > 0)
    return undefined;
  return { namespace, name };
}

export const groupsOf = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

export interface Reference {
  readonly name: string;
  readonly uid: string;
}

export interface AccountClaims extends AccountName {
  readonly uid: string;
  readonly pod?: Reference;
  /** Node of the pod, or the node that the token is bound to; without a uid if it was not found. */
  readonly node?: Reference;
  /** Id of the token. */
  readonly id?: string;
}

const claimPrefix = 'authentication.kubernetes.io/';
export const nodeNameKey = `${claimPrefix}node-name`;

export function userOf({ uid, pod, node, id, ...account }: AccountClaims): User {
  const extra: Record<string, string[]> = {};
  if (id) extra[credentialId] = [`JTI=${id}`];
  if (node?.name) {
    extra[nodeNameKey] = [node.name];
    if (node.uid) extra[`${claimPrefix}node-uid`] = [node.uid];
  }
  if (pod?.name && pod.uid) {
    extra[`${claimPrefix}pod-name`] = [pod.name];
    extra[`${claimPrefix}pod-uid`] = [pod.uid];
  }
  return { name: usernameOf(account), uid, groups: groupsOf(account.namespace), extra };
}
