/**
 * Who may have a tenant opened. To open one takes a hundred times as much as to refuse somebody, makes the tenant's keys if it
 * has none, and closes another that is idle: so it is done for those only who show something that the tenant itself has given
 * out, or whom the management plane knows as one of its masters. What that takes is read here, and nothing is written.
 *
 * Who has proved this is somebody, and no more: what the credential is worth, the tenant finds out.
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
import { isIssuerOf } from './keys/issuers.ts';
import { storedTenantKeys } from './keys/keys.ts';
import { tokenKeyId } from './keys/token-key-ids.ts';
import { verifiersOf } from './keys/verifiers.ts';
import type { TenantVerifiers } from './keys/verifiers.ts';
import { identityKey, tenantPrefix } from './layout.ts';
import type { TenantWorld } from './open-tenant.ts';
import { platformUser } from './platform-users.ts';

export interface Proven {
  /** Of the tenant, where it was read. */
  readonly identity?: Entry;
  /** Where it is known already. */
  readonly user?: User;
}

const provingMaxMs = 10_000;

type ProofWorld = Pick<TenantWorld, 'store' | 'storePrefix' | 'clock' | 'rootGuard'>;

/** Undefined: nobody that is known there. Never rejects: what cannot be found out proves nothing. */
export async function proofOf(world: ProofWorld, path: string, request: ServerRequest): Promise<Proven | undefined> {
  const own = await inTime(world.clock, ownProof(world, path, request));
  if (own) return own;
  const user = await platformUser(world.rootGuard(), request);
  return user && { user };
}

/** A store that does not answer proves nothing either. */
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
    const { entry: identity } = await world.store.get(identityKey(prefix));
    const proven = identity && (await provenTo(world, { prefix, identity }, request, jwt));
    if (proven) return proven;
  }
  const bootstrap = token === undefined ? undefined : bootstrapSecretOf(token);
  if (bootstrap === undefined) return undefined;
  // Whoever names one that there is may as well ask for it: its secret is compared by the tenant.
  const { entry } = await world.store.get(`${prefix}secrets/kube-system/${bootstrap}`);
  return entry && {};
}

/** A token that says that it is of this tenant. */
function ownToken(path: string, token: string): Jwt | undefined {
  const jwt = parseJwt(token);
  const issuer = jwt?.claims['iss'];
  return issuer === legacyIssuer || isIssuerOf(path, issuer) ? jwt : undefined;
}

interface Place {
  readonly prefix: string;
  readonly identity: Entry;
}

/** By the tenant's CA, or by the key of its tokens. */
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
  // Whoever issues tokens names the key of them.
  if (keyId !== jwt.keyId) return undefined;
  const known = await verifiers();
  return known && hasSigned(known.tokenKeys(), jwt) ? { identity } : undefined;
}
