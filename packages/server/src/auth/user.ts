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

/** In `extra`: which of the user's credentials was shown. */
export const credentialId = 'authentication.kubernetes.io/credential-id';

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: [unauthenticatedGroup], extra: {} };

/** Everybody who was identified is in one group, except who says itself that it was not. */
export function authenticated(user: User): User {
  const { groups } = user;
  if (groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...groups, authenticatedGroup] };
}
