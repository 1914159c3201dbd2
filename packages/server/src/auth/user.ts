/** The authenticated user of a request. */

export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const mastersGroup = 'system:masters';
export const nodesGroup = 'system:nodes';

/** Key in `extra` for the id of the credential that was used. */
export const credentialId = 'authentication.kubernetes.io/credential-id';

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: [unauthenticatedGroup], extra: {} };

/** Adds the group of authenticated users, unless the user is in the group of unauthenticated ones. */
export function authenticated(user: User): User {
  const { groups } = user;
  if (groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...groups, authenticatedGroup] };
}

const expiries = new WeakMap<User, number>();

/** Returns the expiration of the client certificate of a user, in milliseconds since 1970; undefined: another credential was used. */
export const certificateExpiry = (user: User): number | undefined => expiries.get(user);

/** Remembers the expiration of the client certificate that authenticates the user. */
export function withCertificateExpiry(user: User, expiresAt: number): User {
  expiries.set(user, expiresAt);
  return user;
}
