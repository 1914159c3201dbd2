/**
 * The tenants that are open: opened by the first request, kept while something is asked of them, given back when nothing was
 * for a while or when too many others are open. One timer for all of them, and none when there is none to close.
 */

import type { Clock, Timer } from '@hangar/core';
import type { OpenTenant, TenantLink } from './open-tenant.ts';
import type { Tenant } from './tenant.ts';

export interface OpenTenantsOptions {
  readonly clock: Clock;
  readonly open: (link: TenantLink) => Promise<OpenTenant | undefined>;
  /** Open tenants of which nothing is asked, at most. */
  readonly idleMax?: number;
  readonly idleMs?: number;
}

const defaultIdleMax = 128;
const defaultIdleMs = 30_000;

/** A tenant that is open, or is being opened. */
class Seat implements TenantLink {
  #tenant: Tenant;
  readonly opening: Promise<OpenTenant | undefined>;
  readonly #onFenced: (seat: Seat) => void;
  /** Requests and watches under way. */
  users = 0;
  idleSinceMs = 0;
  isClosed = false;

  constructor(tenant: Tenant, options: OpenTenantsOptions, onFenced: (seat: Seat) => void) {
    this.#tenant = tenant;
    this.#onFenced = onFenced;
    this.opening = options.open(this);
  }

  tenant(): Tenant {
    return this.#tenant;
  }

  changed(tenant: Tenant): void {
    this.#tenant = tenant;
  }

  onFenced(): void {
    this.#onFenced(this);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    void this.opening.then(
      (open) => open?.close(),
      () => undefined,
    );
  }
}

/** A tenant for one request: nobody closes it before `leave`, unless it ends. */
export interface Visit {
  readonly tenant: OpenTenant;
  leave(): void;
}

export class OpenTenants {
  readonly #options: OpenTenantsOptions;
  readonly #seats = new Map<string, Seat>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<string, Seat>();
  #timer: Timer | undefined;

  constructor(options: OpenTenantsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Undefined: there is no such tenant any more. Rejects when it cannot be opened; the next one tries again. */
  async enter(tenant: Tenant): Promise<Visit | undefined> {
    const seat = this.#seatOf(tenant);
    seat.users++;
    this.#idle.delete(tenant.path);
    try {
      const open = await seat.opening;
      if (open && !seat.isClosed) return { tenant: open, leave: once(() => this.#left(seat)) };
    } catch (error) {
      this.#drop(seat);
      throw error;
    }
    this.#drop(seat);
    return undefined;
  }

  /** What is open for it, without opening it. */
  peek(path: string): Promise<OpenTenant | undefined> | undefined {
    return this.#seats.get(path)?.opening;
  }

  /** The tenant is another one now, or none. */
  changed(before: Tenant, now: Tenant | undefined): void {
    const seat = this.#seats.get(before.path);
    if (!seat) return;
    const isSame = now?.uid === before.uid && now.isMaterialised === before.isMaterialised;
    const goesOffline = now?.spec.suspension === 'Offline' && before.spec.suspension !== 'Offline';
    if (isSame && !goesOffline) seat.changed(now!);
    else this.#drop(seat);
  }

  /** Closes it, whoever is in it: it is opened anew by the next request. */
  drop(path: string): void {
    const seat = this.#seats.get(path);
    if (seat) this.#drop(seat);
  }

  close(): void {
    this.#timer?.cancel();
    for (const seat of this.#seats.values()) seat.close();
    this.#seats.clear();
    this.#idle.clear();
  }

  #seatOf(tenant: Tenant): Seat {
    const known = this.#seats.get(tenant.path);
    if (known && known.tenant().uid === tenant.uid) return known;
    if (known) this.#drop(known);
    const seat = new Seat(tenant, this.#options, (fenced) => this.#drop(fenced));
    this.#seats.set(tenant.path, seat);
    return seat;
  }

  #drop(seat: Seat): void {
    const { path } = seat.tenant();
    if (this.#seats.get(path) === seat) {
      this.#seats.delete(path);
      this.#idle.delete(path);
    }
    seat.close();
  }

  #left(seat: Seat): void {
    seat.users--;
    const { path } = seat.tenant();
    if (seat.users > 0 || this.#seats.get(path) !== seat) return;
    seat.idleSinceMs = this.#options.clock.monotonicMs();
    this.#idle.set(path, seat);
    if (this.#idle.size > (this.#options.idleMax ?? defaultIdleMax)) {
      const [oldest] = this.#idle.values();
      this.#drop(oldest!);
    }
    this.#sweepLater();
  }

  #sweepLater(): void {
    if (this.#timer || this.#idle.size === 0) return;
    const idleMs = this.#options.idleMs ?? defaultIdleMs;
    this.#timer = this.#options.clock.after(idleMs, () => {
      this.#timer = undefined;
      const since = this.#options.clock.monotonicMs() - idleMs;
      for (const seat of this.#idle.values()) {
        if (seat.idleSinceMs > since) break;
        this.#drop(seat);
      }
      this.#sweepLater();
    });
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
