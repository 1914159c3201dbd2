/**
 * Platform administrators in the control planes of tenants. A user that the management plane authenticates as a member of system:masters
 * may access every tenant. All its other users are unknown there.
 *
 * A tenant does not see why authentication by the management plane failed.
 */

import type { Authenticator } from '../auth/authenticate.ts';
import type { Guard } from '../auth/guard.ts';
import { isPromise } from '../auth/promise.ts';
import type { TokenAuthenticator, TokenIdentity } from '../auth/tokens.ts';
import { mastersGroup } from '../auth/user.ts';
import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';

const known = new WeakSet<User>();

function admitted(user: User | undefined): User | undefined {
  if (!user?.groups.includes(mastersGroup)) return undefined;
  known.add(user);
  return user;
}

/** Reports whether the management plane authenticated this user of a tenant. */
export const isPlatformUser = (user: User): boolean => known.has(user);

/** Authenticates the request by any of its credentials. Never rejects. */
export async function platformUser(root: Guard, request: ServerRequest): Promise<User | undefined> {
  try {
    return admitted(await root.identify(request));
  } catch {
    return undefined;
  }
}

/** Authenticates by the client certificate, which TLS verified against the CAs of the management plane. */
export const platformCertificates = (root: Guard): Authenticator => ({
  authenticate(request: ServerRequest): User | undefined | Promise<User | undefined> {
    if (!request.peer.certificate) return undefined;
    try {
      const identifying = root.identifyConnection(request);
      if (isPromise(identifying)) return identifying.then(admitted, () => undefined);
      return admitted(identifying);
    } catch {
      return undefined;
    }
  },
});

/** Authenticates requests but not TokenReviews: a tenant must not learn which tokens the platform accepts. */
export const platformTokens = (root: Guard): TokenAuthenticator => ({
  async authenticateToken(token: string): Promise<TokenIdentity | undefined> {
    const proven = await root.identifyToken(token, root.audiences).catch(() => undefined);
    const user = admitted(proven?.user);
    if (!proven || !user) return undefined;
    const { expiresAt, isCurrent } = proven;
    return {
      user,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(isCurrent ? { isCurrent } : {}),
    };
  },
});
