/**
 * Users of the management plane in the control planes of tenants. Members of system:masters may access every tenant. Members of an
 * organization may access the control planes of its projects, where they have the rights of their roles. All other users are unknown
 * there.
 *
 * A tenant does not see why authentication by the management plane failed.
 */

import type { Authenticator } from '../auth/authenticate.ts';
import type { Guard } from '../auth/guard.ts';
import { isPromise } from '../auth/promise.ts';
import type { TokenAuthenticator, TokenIdentity } from '../auth/tokens.ts';
import { authenticatedGroup, mastersGroup } from '../auth/user.ts';
import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';

/** The users of the management plane that one tenant accepts. */
export interface PlatformUsers {
  readonly root: Guard;
  /** Reports whether the user is a member of the organization that the tenant belongs to. */
  isMember(user: User): boolean;
  /** Calls the listener when a membership of the user changes. Returns a function that ends it. */
  onChange(user: User, listener: () => void): () => void;
}

const administrators = new WeakSet<User>();
const members = new WeakSet<User>();

function admitted({ isMember }: Pick<PlatformUsers, 'isMember'>, user: User | undefined): User | undefined {
  if (user?.groups.includes(mastersGroup)) {
    administrators.add(user);
    return user;
  }
  return user && isMember(user) ? asMember(user) : undefined;
}

/** Groups of the platform and extras have a meaning only in the management plane. */
function asMember({ name, groups }: User): User {
  const own = groups.filter((group) => !group.startsWith('system:'));
  const member: User = { name, uid: '', groups: [...own, authenticatedGroup], extra: {} };
  members.add(member);
  return member;
}

/** Reports whether this user of a tenant is an administrator of the platform. */
export const isPlatformUser = (user: User): boolean => administrators.has(user);

/** Reports whether the credential of this user of a tenant is one of the management plane. */
export const isOfManagementPlane = (user: User): boolean => administrators.has(user) || members.has(user);

/** Calls `end` when a member is no longer one, also if that happened already. Returns undefined for other users. */
export function followMember(users: PlatformUsers, user: User, end: () => void): (() => void) | undefined {
  if (!members.has(user)) return undefined;
  const check = (): void => {
    if (!users.isMember(user)) end();
  };
  const stop = users.onChange(user, check);
  check();
  return stop;
}

/** Authenticates the request by any of its credentials. Never rejects. */
export async function platformUser(users: PlatformUsers, request: ServerRequest): Promise<User | undefined> {
  try {
    return admitted(users, await users.root.identify(request));
  } catch {
    return undefined;
  }
}

/** Authenticates by the client certificate, which TLS verified against the CAs of the management plane. */
export const platformCertificates = (users: PlatformUsers): Authenticator => ({
  authenticate(request: ServerRequest): User | undefined | Promise<User | undefined> {
    if (!request.peer.certificate) return undefined;
    try {
      const identifying = users.root.identifyConnection(request);
      if (!isPromise(identifying)) return admitted(users, identifying);
      return identifying.then(
        (user) => admitted(users, user),
        () => undefined,
      );
    } catch {
      return undefined;
    }
  },
});

/** Authenticates requests but not TokenReviews: a tenant must not learn which tokens the platform accepts. */
export const platformTokens = (users: PlatformUsers): TokenAuthenticator => ({
  async authenticateToken(token: string): Promise<TokenIdentity | undefined> {
    const { root } = users;
    const proven = await root.identifyToken(token, root.audiences).catch(() => undefined);
    const user = admitted(users, proven?.user);
    if (!proven || !user) return undefined;
    const { expiresAt } = proven;
    return {
      user,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      isCurrent: () => (proven.isCurrent?.() ?? true) && (isPlatformUser(user) || users.isMember(proven.user)),
    };
  },
});
