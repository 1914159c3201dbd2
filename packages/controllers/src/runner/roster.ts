/**
 * Which controllers of the set serve which control plane.
 *
 *     suspended, quarantined      none: the server refuses writes
 *     others run its controllers  those that stay at home
 *     everything else             all
 *
 * A set that is told whom it `serves` has all of its controllers there, and none elsewhere. Then what its choice may depend on is kept
 * of each Tenant, so that the choice can be made again when something else has changed; otherwise only exceptions are kept.
 */

import type { KubeObject } from '@hangar/api';
import type { FleetController } from '../contract.ts';

/** On a `Tenant`: whose controllers serve it. */
export const controllersAnnotation = 'tenancy.hangar.dev/controllers';
export const externalControllers = 'External';
/** On a `Tenant`: the object for whose sake others run its controllers; the name of a registration, or `endpoint/NAME`. */
export const controllersByAnnotation = 'controlplane.kplane.dev/controllers-by';

export type Share = 'all' | 'home' | 'none';

/** Of the Tenant it sees the name, the suspension and the two annotations. Must not throw. */
export type Serves = (cluster: string, tenant: KubeObject) => boolean;

/** How the share of a control plane has changed. */
export interface Turn {
  /** Undefined: nothing of it was told to anybody yet, and all of it will be. */
  readonly before: Share | undefined;
  readonly now: Share;
  readonly tenant: KubeObject;
}

export class Roster {
  readonly #serves: Serves | undefined;
  /** Without `serves`: of those only that not all serve. */
  readonly #shares = new Map<string, Share>();
  /** With `serves`: of all that were told. */
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

  /** Undefined: it is not known, or its Tenant alone decides. */
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

/** By an administrator, or by the server itself. */
function isSuspended(tenant: KubeObject): boolean {
  const { spec, status } = tenant as TenantParts;
  return (typeof spec?.suspension === 'string' && spec.suspension !== '') || status?.quarantine !== undefined;
}

/** Few bytes: there are as many of them as Tenants. */
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
