/**
 * User extras that name the parent of a request: the project whose control plane handles it. Webhooks, policies, aggregated API servers and
 * audit events receive them. Only the server sets them: extras of this name that a client brings are removed, or refused.
 */

import { StatusError } from '@hangar/api';
import type { User } from './user.ts';

const prefix = 'iam.miloapis.com/parent-';

/** The object that a request belongs to. */
export interface Parent {
  readonly apiGroup: string;
  readonly type: string;
  readonly name: string;
}

const isParentKey = (key: string): boolean => key.toLowerCase().startsWith(prefix);

/** Returns the same user if it has no such extra. */
export function withoutParent(user: User): User {
  const { extra } = user;
  for (const key of Object.keys(extra)) {
    if (isParentKey(key)) {
      const kept = Object.entries(extra).filter(([name]) => !isParentKey(name));
      return { ...user, extra: Object.fromEntries(kept) };
    }
  }
  return user;
}

/** Returns the user with the extras of the parent, instead of those that it has. */
export function withParent(user: User, { apiGroup, type, name }: Parent): User {
  const { extra } = withoutParent(user);
  const own = { [`${prefix}api-group`]: [apiGroup], [`${prefix}type`]: [type], [`${prefix}name`]: [name] };
  return { ...user, extra: { ...extra, ...own } };
}

/** Throws 403 if a client impersonates a user with such an extra. */
export function refuseParent({ extra }: User): void {
  const key = Object.keys(extra).find(isParentKey);
  if (key === undefined) return;
  throw new StatusError('Forbidden', `user extra "${key}" cannot be impersonated: it is set by the server`);
}
