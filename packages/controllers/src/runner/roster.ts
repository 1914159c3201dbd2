/**
 * Determines the controllers of the set that serve a control plane.
 *
 *     suspended, quarantined      none: the server rejects writes
 *     external controllers        home controllers
 *     all others                  all
 *
 * A set with `serves` runs all of its controllers for the selected control planes, and none for others. Then the relevant part of each
 * Tenant is kept, so that `serves` can be evaluated again when other state has changed; otherwise only exceptions are kept.
 */

import type { KubeObject } from '@hangar/api';
import type { FleetController } from '../contract.ts';

/** Annotation of a `Tenant`: the controllers that serve it. */
export const controllersAnnotation = 'tenancy.hangar.dev/controllers';
export const externalControllers = 'External';
/** Annotation of a `Tenant`: the object that requests external controllers; the name of a registration, or `endpoint/NAME`. */
export const controllersByAnnotation = 'controlplane.kplane.dev/controllers-by';

export type Share = 'all' | 'home' | 'none';

/** Receives name, suspension and the two annotations of the Tenant. Must not throw. */
export type Serves = (cluster: string, tenant: KubeObject) => boolean;

/** A change of the controllers that serve a control plane. */
export interface Turn {
  /** Undefined: nothing was delivered yet, and everything will be. */
  readonly before: Share | undefined;
  readonly now: Share;
  readonly tenant: KubeObject;
}

export class Roster {
  readonly #serves: Serves | undefined;
  /** Without `serves`: only control planes that not all controllers serve. */
  readonly #shares = new Map<string, Share>();
  /** With `serves`: all delivered Tenants. */
  readonly #tenants = new Map<string, KubeObject>();

  constructor(serves: Serves | undefined) {
    this.#serves = serves;
  }

  shareOf(cluster: string): Share {
    return this.#shares.get(cluster) ?? (this.#serves ? 'none' : 'all');
  }

  isServedBy(cluster: string, { isHome }: FleetController): boolean {
    return includes(this.shareOf(cluster), isHome);
  }

  put(cluster: string, tenant: KubeObject): Turn {
    const before = this.#serves ? this.#shares.get(cluster) : this.shareOf(cluster);
    if (!this.#serves) {
      const now = shareByRule(tenant);
      if (now === 'all') this.#shares.delete(cluster);
      else this.#shares.set(cluster, now);
      return { before, now, tenant };
    }
    const kept = partOf(tenant);
    this.#tenants.set(cluster, kept);
    return this.#judge(cluster, kept, before);
  }

  /** Returns undefined if it is not known, or only its Tenant decides. */
  reconsider(cluster: string): Turn | undefined {
    const tenant = this.#tenants.get(cluster);
    return tenant && this.#judge(cluster, tenant, this.#shares.get(cluster));
  }

  delete(cluster: string): void {
    this.#shares.delete(cluster);
    this.#tenants.delete(cluster);
  }

  clear(): void {
    this.#shares.clear();
    this.#tenants.clear();
  }

  #judge(cluster: string, tenant: KubeObject, before: Share | undefined): Turn {
    const now = !isSuspended(tenant) && this.#serves!(cluster, tenant) ? 'all' : 'none';
    this.#shares.set(cluster, now);
    return { before, now, tenant };
  }
}

export const includes = (share: Share | undefined, isHome: true | undefined): boolean =>
  share === 'all' || (share === 'home' && isHome === true);

function shareByRule(tenant: KubeObject): Share {
  if (isSuspended(tenant)) return 'none';
  return tenant.metadata.annotations?.[controllersAnnotation] === externalControllers ? 'home' : 'all';
}

interface TenantParts {
  readonly spec?: { readonly suspension?: unknown };
  readonly status?: { readonly quarantine?: unknown };
}

/** Suspended by an administrator, or by the server itself. */
function isSuspended(tenant: KubeObject): boolean {
  const { spec, status } = tenant as TenantParts;
  return (typeof spec?.suspension === 'string' && spec.suspension !== '') || status?.quarantine !== undefined;
}

/** Small: one is kept for each Tenant. */
function partOf({ apiVersion, kind, metadata, spec, status }: KubeObject & TenantParts): KubeObject {
  const { suspension } = spec ?? {};
  const { quarantine } = status ?? {};
  const { [controllersAnnotation]: value, [controllersByAnnotation]: by } = metadata.annotations ?? {};
  const annotations = {
    ...(value === undefined ? {} : { [controllersAnnotation]: value }),
    ...(by === undefined ? {} : { [controllersByAnnotation]: by }),
  };
  return {
    apiVersion,
    kind,
    metadata: { ...(metadata.name === undefined ? {} : { name: metadata.name }), annotations },
    ...(suspension === undefined ? {} : { spec: { suspension } }),
    ...(quarantine === undefined ? {} : { status: { quarantine } }),
  };
}
