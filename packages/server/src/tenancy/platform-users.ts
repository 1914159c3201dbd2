/**
 * Administrators of the platform in its tenants' control planes: whoever the management plane knows as one of its masters may
 * enter each of them. Anybody else that it knows is nobody there.
 *
 * Why it does not know somebody, and that it could not find out, is told to nobody in a tenant.
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

/** Returns whether the management plane authenticated this user of a tenant. */
export const isPlatformUser = (user: User): boolean => known.has(user);

/** By whatever the request shows. Never rejects. */
export async function platformUser(root: Guard, request: ServerRequest): Promise<User | undefined> {
  try {
    return admitted(await root.identify(request));
  } catch {
    return undefined;
  }
}

/** By what the connection proved: TLS verified it against the management plane's CAs. */
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

/** For requests, and not for reviews: a tenant does not get to know whose tokens the platform knows. */
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
