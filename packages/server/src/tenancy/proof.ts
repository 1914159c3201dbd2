/**
 * Decides which clients may cause a tenant to be opened. Opening costs a hundred times as much as refusing a request, creates the tenant's
 * keys if it has none, and may close an idle tenant. So it requires a credential that the tenant issued, a valid token of an issuer that
 * the tenant names, or a user of the management plane that the tenant accepts. The check only reads from the store, and reads the keys of
 * issuers.
 *
 * The proof only shows that the client is known. The tenant authenticates the credential afterwards.
 */

import type { Clock } from '@hangar/core';
import type { Entry } from '@hangar/store';
import { bearerToken } from '../auth/bearer.ts';
import { bootstrapSecretOf } from '../auth/bootstrap-tokens/bootstrap-tokens.ts';
import { parseJwt } from '../auth/jwt/jwt.ts';
import type { Jwt } from '../auth/jwt/jwt.ts';
import { hasSigned } from '../auth/service-accounts/authenticate.ts';
import { legacyIssuer } from '../auth/service-accounts/legacy.ts';
import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';
import { decodeIdentity } from './identity.ts';
import { isIssuerOf } from './keys/issuers.ts';
import { storedTenantKeys } from './keys/keys.ts';
import { tokenKeyId } from './keys/token-key-ids.ts';
import { verifiersOf } from './keys/verifiers.ts';
import type { TenantVerifiers } from './keys/verifiers.ts';
import { identityKey, tenantPrefix } from './layout.ts';
import type { TenantWorld } from './open-tenant.ts';
import { platformUser } from './platform-users.ts';

export interface Proven {
  /** Identity of the tenant, if it was read. */
  readonly identity?: Entry;
  /** The user, if already known. */
  readonly user?: User;
}

const provingMaxMs = 10_000;
const attemptsMax = 4;

type ProofWorld = Pick<TenantWorld, 'store' | 'storePrefix' | 'clock' | 'platformUsers' | 'externalUsers'>;

/** Returns undefined if the client is unknown to the tenant. Never rejects: an error proves nothing. */
export async function proofOf(world: ProofWorld, path: string, request: ServerRequest): Promise<Proven | undefined> {
  const own = await inTime(world.clock, ownProof(world, path, request));
  if (own) return own;
  const user = await platformUser(world.platformUsers(path), request);
  return user && { user };
}

/** Resolves with undefined if the store does not respond in time. */
function inTime(clock: Clock, proving: Promise<Proven | undefined>): Promise<Proven | undefined> {
  return new Promise((resolve) => {
    const timer = clock.after(provingMaxMs, () => resolve(undefined));
    const proved = (proven: Proven | undefined): void => {
      timer.cancel();
      resolve(proven);
    };
    proving.then(proved, () => proved(undefined));
  });
}

async function ownProof(world: ProofWorld, path: string, request: ServerRequest): Promise<Proven | undefined> {
  const prefix = tenantPrefix(world.storePrefix, path);
  const token = bearerToken(request.header('authorization'));
  const jwt = token === undefined ? undefined : ownToken(path, token);
  if (request.peer.unverified || jwt) {
    let { entry: identity } = await world.store.get(identityKey(prefix));
    for (let attempt = 0; identity && attempt < attemptsMax; attempt++) {
      const proven = await provenTo(world, { prefix, identity }, request, jwt);
      if (proven) return proven;
      // A restore in place, or materialisation, changes the identity: the keys that were read may be those of another one.
      const { entry: now } = await world.store.get(identityKey(prefix));
      if (now?.modRevision === identity.modRevision) break;
      identity = now;
    }
  }
  const external = token === undefined ? undefined : await world.externalUsers.userOf(path, token);
  if (external) {
    const { entry: identity } = await world.store.get(identityKey(prefix));
    return identity && { identity, user: external };
  }
  const bootstrap = token === undefined ? undefined : bootstrapSecretOf(token);
  if (bootstrap === undefined) return undefined;
  // The ID of an existing bootstrap token is sufficient: the tenant compares the secret.
  const { entry } = await world.store.get(`${prefix}secrets/kube-system/${bootstrap}`);
  if (entry) return {};
  // Another API server has the tokens of the tenant, and verifies them.
  const { entry: identity } = await world.store.get(identityKey(prefix));
  return identity && decodeIdentity(identity.value).remote ? {} : undefined;
}

/** Returns the parsed token if its issuer is this tenant. */
function ownToken(path: string, token: string): Jwt | undefined {
  const jwt = parseJwt(token);
  const issuer = jwt?.claims['iss'];
  return issuer === legacyIssuer || isIssuerOf(path, issuer) ? jwt : undefined;
}

interface Place {
  readonly prefix: string;
  readonly identity: Entry;
}

/** Verifies the credential with the tenant's CA or with its token signing key. */
async function provenTo(
  { store, clock }: ProofWorld,
  { prefix, identity }: Place,
  request: ServerRequest,
  jwt: Jwt | undefined,
): Promise<Proven | undefined> {
  const verifiers = async (): Promise<TenantVerifiers | undefined> => {
    const keys = await storedTenantKeys({ store, prefix, identityRevision: identity.modRevision });
    return keys && verifiersOf(keys, clock);
  };
  const user = request.peer.unverified && (await verifiers())?.certificates.authenticate(request);
  if (user) return { identity, user };
  if (!jwt) return undefined;
  const keyId = await tokenKeyId(store, identity, async () => (await verifiers())?.tokenKeys().all[0]?.id);
  // Every issued token names its signing key.
  if (keyId !== jwt.keyId) return undefined;
  const known = await verifiers();
  return known && hasSigned(known.tokenKeys(), jwt) ? { identity } : undefined;
}
