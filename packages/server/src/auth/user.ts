/** Who makes a request. */

export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const anonymous: User = { name: 'system:anonymous', uid: '', groups: ['system:unauthenticated'], extra: {} };

export const authenticatedGroup = 'system:authenticated';
export const mastersGroup = 'system:masters';
