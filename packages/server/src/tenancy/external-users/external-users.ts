/**
 * External users of tenants: tokens of the issuers that `spec.authentication` of a Tenant names. Each tenant has its own issuers, keys and
 * outgoing connections, so that a token counts only for the tenant that names its issuer. They are shared by the open tenant and by the
 * check whether a client may open it.
 *
 * A change of the configuration takes effect when this server has observed it: tokens that were accepted before are verified again.
 */

import { unauthorized } from '@hangar/api';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { OidcAuthenticator } from '../../auth/oidc/index.ts';
import type { TokenAuthenticator, TokenIdentity } from '../../auth/tokens.ts';
import { authenticated } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import type { Outbound } from '../../outbound/index.ts';
import type { Tenant } from '../tenant.ts';
import { issuersOf, oidc } from './configuration.ts';
import { documentBytesMax, fetchTimeoutMs, tenantsMax } from './limits.ts';

export interface TenantExternalUsersOptions {
  readonly outbound: Outbound;
  readonly clock: Clock;
  /** Returns the current state of the tenant with this path. */
  readonly find: (path: string) => Tenant | undefined;
  readonly tenantsMax?: number;
}

/** The issuers of one tenant in one version of its configuration. */
interface TenantIssuers {
  readonly uid: string;
  /** The configuration as JSON. */
  readonly text: string;
  readonly authenticator: OidcAuthenticator;
  readonly outbound: Outbound;
}

export class TenantExternalUsers {
  readonly #options: TenantExternalUsersOptions;
  /** By path; the least recently used first. */
  readonly #issuers = new Map<string, TenantIssuers>();

  constructor(options: TenantExternalUsersOptions) {
    this.#options = options;
  }

  /** Returns the authenticator of the tenant, which follows changes of its configuration. */
  authenticator(path: string): TokenAuthenticator {
    return { authenticateToken: (token) => this.#authenticate(path, token) };
  }

  /** Returns the user of a token; undefined: the token is invalid, or of another issuer. Never rejects. */
  async userOf(path: string, token: string): Promise<User | undefined> {
    try {
      const identity = await this.#authenticate(path, token);
      return identity && authenticated(identity.user);
    } catch {
      return undefined;
    }
  }

  /** Called when the tenant changed or was deleted. */
  changed(path: string): void {
    const known = this.#issuers.get(path);
    if (known && !isOf(known, this.#options.find(path))) this.#drop(path, known);
  }

  close(): void {
    for (const [path, known] of this.#issuers) this.#drop(path, known);
  }

  #authenticate(path: string, token: string): undefined | Promise<TokenIdentity> {
    const issuers = this.#issuersOf(path);
    const verifying = issuers?.authenticator.authenticateToken(token);
    return verifying && this.#verified(path, issuers!, verifying);
  }

  async #verified(
    path: string,
    issuers: TenantIssuers,
    verifying: TokenIdentity | Promise<TokenIdentity>,
  ): Promise<TokenIdentity> {
    const isCurrent = (): boolean => isOf(issuers, this.#options.find(path));
    let identity: TokenIdentity;
    try {
      identity = await verifying;
    } catch (error) {
      // An issuer that cannot be reached: the client gets 401 as from kube-apiserver, and cannot tell that the tenant exists.
      throw hasCode(error, 'Unauthorized') ? error : unauthorized((error as Error).message);
    }
    if (!isCurrent()) throw unauthorized('the issuers of the control plane changed');
    return { ...identity, isCurrent };
  }

  #issuersOf(path: string): TenantIssuers | undefined {
    const tenant = this.#options.find(path);
    const { authentication } = tenant?.spec ?? {};
    if (!tenant || !authentication?.jwt?.length) return undefined;
    const known = this.#issuers.get(path);
    if (known) {
      this.#issuers.delete(path);
      this.#issuers.set(path, known);
      return known;
    }
    const outbound = this.#options.outbound.forTenant();
    const made: TenantIssuers = {
      uid: tenant.uid,
      text: JSON.stringify(authentication),
      outbound,
      authenticator: new (oidc().OidcAuthenticator)({
        issuers: issuersOf(path, authentication),
        clock: this.#options.clock,
        fetch: (url, ca) => fetchDocument(outbound, url, ca),
      }),
    };
    this.#issuers.set(path, made);
    const [oldest] = this.#issuers;
    if (this.#issuers.size > (this.#options.tenantsMax ?? tenantsMax)) this.#drop(...oldest!);
    return made;
  }

  #drop(path: string, { outbound }: TenantIssuers): void {
    this.#issuers.delete(path);
    outbound.close();
  }
}

/** The text is compared only after a change of the Tenant object. */
const compared = new WeakMap<Tenant, string>();

function isOf({ uid, text }: TenantIssuers, tenant: Tenant | undefined): boolean {
  if (tenant?.uid !== uid) return false;
  let now = compared.get(tenant);
  if (now === undefined) compared.set(tenant, (now = JSON.stringify(tenant.spec.authentication ?? null)));
  return now === text;
}

async function fetchDocument(outbound: Outbound, url: string, ca: string | undefined): Promise<unknown> {
  const { status, body } = await outbound.request({ url, ca, timeoutMs: fetchTimeoutMs, bytesMax: documentBytesMax });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return JSON.parse(Buffer.from(body).toString());
}
