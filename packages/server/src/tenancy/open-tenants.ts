/**
 * Cache of open tenants. The first request opens a tenant. It is closed when it was idle for a while, or when too many others are idle. One
 * timer serves all of them, and none runs while no tenant is idle.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Entry } from '@hangar/store';
import type { OpenTenant, ServedTenant, TenantLink } from './open-tenant.ts';
import { identityKey } from './layout.ts';
import { closure } from './suspension.ts';
import type { Tenant, TenantServing } from './tenant.ts';

export interface OpenTenantsOptions {
  readonly clock: Clock;
  /** `identity`: see `enter`. */
  readonly open: (link: TenantLink, identity: Entry | undefined) => Promise<OpenTenant | ServedTenant | undefined>;
  /** Maximum number of open tenants without requests. */
  readonly idleMax?: number;
  readonly idleMs?: number;
  /** Time limit of opening. */
  readonly openingMaxMs?: number;
}

const defaultIdleMax = 128;
const defaultIdleMs = 30_000;
const defaultOpeningMaxMs = 10_000;
/** Batches tenants that become idle shortly after one another into one sweep. */
const sweepEveryMsMin = 1_000;

/** A tenant that is open or being opened. */
class Seat implements TenantLink {
  #tenant: Tenant;
  readonly opening: Promise<OpenTenant | ServedTenant | undefined>;
  /** Resolves when a closed tenant has ended its requests. */
  closed: Promise<void> = Promise.resolve();
  readonly #onFenced: (seat: Seat) => void;
  /** Number of running requests and watches. */
  users = 0;
  idleSinceMs = 0;
  isClosed = false;

  constructor(
    tenant: Tenant,
    identity: Entry | undefined,
    options: OpenTenantsOptions,
    onFenced: (seat: Seat) => void,
  ) {
    this.#tenant = tenant;
    this.#onFenced = onFenced;
    this.opening = inTime(options, () => options.open(this, identity));
  }

  tenant(): Tenant {
    return this.#tenant;
  }

  changed(tenant: Tenant): void {
    const wasActive = this.#tenant.spec.suspension === undefined;
    this.#tenant = tenant;
    // A read-only tenant is still open, but connections to its nodes and pods can write.
    if (wasActive && tenant.spec.suspension !== undefined) {
      void this.opening.then(
        (open) => isOpen(open) && open.plane.nodes.endStreams(),
        () => undefined,
      );
    }
  }

  onFenced(): void {
    this.#onFenced(this);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closed = this.opening.then(
      (open) => open?.close(),
      () => undefined,
    );
  }
}

/** Keeps a tenant open for one request until `leave`, unless the tenant is dropped. */
export interface Visit {
  readonly tenant: ServedTenant;
  /** Reports whether the tenant was closed since. */
  isOver(): boolean;
  leave(): void;
}

export class OpenTenants {
  readonly #options: OpenTenantsOptions;
  readonly #seats = new Map<string, Seat>();
  /** In the order in which they became idle. */
  readonly #idle = new Map<string, Seat>();
  /** Tenants that were closed and still have requests. */
  readonly #closing = new Map<string, Promise<void>>();
  #timer: Timer | undefined;

  constructor(options: OpenTenantsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#seats.size;
  }

  /** Reports whether the tenant is open or being opened. */
  has({ path, uid }: Tenant): boolean {
    return this.#seats.get(path)?.tenant().uid === uid;
  }

  /**
   * `tenant`: the current state. `identity`: the entry of its identity, if it was just read. Returns undefined if the tenant was deleted or
   * changed meanwhile. Rejects if it cannot be opened; the next call retries.
   */
  async enter(tenant: Tenant, identity?: Entry): Promise<Visit | undefined> {
    const seat = this.#seatOf(tenant, identity);
    seat.users++;
    this.#idle.delete(tenant.path);
    try {
      const open = await seat.opening;
      if (open && !seat.isClosed) {
        return { tenant: open, isOver: () => seat.isClosed, leave: once(() => this.#left(seat)) };
      }
    } catch (error) {
      this.#drop(seat);
      throw error;
    }
    this.#drop(seat);
    return undefined;
  }

  /** Returns the open tenant, if any, without opening it. */
  peek(path: string): Promise<OpenTenant | undefined> | undefined {
    return this.#seats.get(path)?.opening.then((open) => (isOpen(open) ? open : undefined));
  }

  /** Resolves when this server has ended the requests of a tenant that was closed. */
  async ended(path: string): Promise<void> {
    await this.#closing.get(path);
  }

  /** Called when the tenant changed or was deleted. */
  changed(before: Tenant, now: Tenant | undefined): void {
    const seat = this.#seats.get(before.path);
    if (!seat) return;
    // Some base objects depend on the port for nodes.
    const isSame =
      now?.uid === before.uid &&
      now.isMaterialised === before.isMaterialised &&
      now.port === before.port &&
      isServedAlike(now.serving, before.serving);
    const closes = now && closure(now) && !closure(before);
    if (isSame && !closes) seat.changed(now!);
    else this.#drop(seat);
  }

  /** Closes the tenant even if requests use it. The next request reopens it. */
  drop(path: string): void {
    const seat = this.#seats.get(path);
    if (seat) this.#drop(seat);
  }

  /** Closes the tenant if it was replaced since it was opened. Its watches end with 410. */
  async closeFenced(path: string): Promise<void> {
    try {
      const open = await this.#seats.get(path)?.opening;
      // A fenced read closes the tenant.
      if (isOpen(open)) await open.plane.store.get(identityKey(open.plane.prefix));
    } catch {
      // The next request finds out.
    }
  }

  close(): void {
    this.#timer?.cancel();
    for (const seat of this.#seats.values()) seat.close();
    this.#seats.clear();
    this.#idle.clear();
  }

  #seatOf(tenant: Tenant, identity: Entry | undefined): Seat {
    const known = this.#seats.get(tenant.path);
    if (known && known.tenant().uid === tenant.uid) return known;
    if (known) this.#drop(known);
    const seat = new Seat(tenant, identity, this.#options, (fenced) => this.#drop(fenced));
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
    const closing = seat.closed.catch(() => undefined);
    this.#closing.set(path, closing);
    void closing.then(() => this.#closing.get(path) === closing && this.#closing.delete(path));
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
    const [oldest] = this.#idle.values();
    if (this.#timer || !oldest) return;
    const { clock, idleMs = defaultIdleMs } = this.#options;
    const leftMs = oldest.idleSinceMs + idleMs - clock.monotonicMs();
    this.#timer = clock.after(Math.max(leftMs, sweepEveryMsMin), () => {
      this.#timer = undefined;
      const since = clock.monotonicMs() - idleMs;
      for (const seat of this.#idle.values()) {
        if (seat.idleSinceMs > since) break;
        this.#drop(seat);
      }
      this.#sweepLater();
    });
  }
}

const isOpen = (tenant: OpenTenant | ServedTenant | undefined): tenant is OpenTenant =>
  tenant !== undefined && 'plane' in tenant;

/** Absent is the same as Local without a hold. */
function isServedAlike(one: TenantServing = local, other: TenantServing = local): boolean {
  return one.mode === other.mode && one.heldBy === other.heldBy && one.server === other.server;
}

const local: TenantServing = { mode: 'Local' };

/** Rejects after the time limit. A tenant that opens later is closed. */
function inTime(
  { clock, openingMaxMs = defaultOpeningMaxMs }: OpenTenantsOptions,
  open: () => Promise<OpenTenant | ServedTenant | undefined>,
): Promise<OpenTenant | ServedTenant | undefined> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = clock.after(openingMaxMs, () => {
      isLate = true;
      reject(new Error(`timed out opening a tenant after ${openingMaxMs} ms`));
    });
    open().then(
      (tenant) => {
        timer.cancel();
        if (isLate) void tenant?.close();
        else resolve(tenant);
      },
      (error: Error) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
