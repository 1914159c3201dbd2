/**
 * Listens on the port of every tenant with nodes. A port is open while its tenant exists, has nodes, and is neither offline nor
 * quarantined. If another program uses the port, the server reports it and retries.
 */

import { detachedClock } from '@hangar/core';
import type { Timer } from '@hangar/core';
import type { Listener } from '../../http/listener.ts';
import { closure } from '../suspension.ts';
import type { Tenant } from '../tenant.ts';
import type { Tenants } from '../tenants.ts';
import { PortAllocator } from './port-allocator.ts';
import type { PortRange } from './port-allocator.ts';
import { planeCertificate } from './plane-certificate.ts';
import type { PlaneCertificateOptions } from './plane-certificate.ts';

export interface PlanePortsOptions extends PlaneCertificateOptions {
  readonly tenants: Pick<Tenants, 'follow'>;
  readonly ports: PortRange;
  readonly listener: Pick<Listener, 'openPort'>;
  /** Called when a port cannot be opened; once until it is open. */
  readonly onError: (error: Error) => void;
}

const retryMsMin = 1_000;
const retryMsMax = 30_000;

/** The port of one tenant: open, being opened, or waiting for the next attempt. */
class PlanePort {
  readonly #options: PlanePortsOptions;
  readonly #allocator: PortAllocator;
  readonly port: number;
  tenant: Tenant;
  #isClosed = false;
  #retry: Timer | undefined;
  #opening: Promise<{ close(): Promise<void> } | undefined>;

  constructor(options: PlanePortsOptions, allocator: PortAllocator, tenant: Tenant, after: Promise<unknown>) {
    this.#options = options;
    this.#allocator = allocator;
    this.tenant = tenant;
    this.port = tenant.port!;
    this.#opening = after.then(() => this.#open(retryMsMin));
  }

  /** Resolves when the port is free. */
  async close(): Promise<void> {
    await (await this.abandon())?.close();
  }

  async settled(): Promise<void> {
    await this.#opening;
  }

  /** Ends attempts to open the port. Resolves with the open port. */
  abandon(): Promise<{ close(): Promise<void> } | undefined> {
    this.#isClosed = true;
    this.#retry?.cancel();
    return this.#opening;
  }

  async #open(retryMs: number): Promise<{ close(): Promise<void> } | undefined> {
    if (this.#isClosed) return undefined;
    const { listener, clock, onError } = this.#options;
    const { port } = this;
    const certificate = planeCertificate(this.#options, () => this.tenant);
    try {
      const opened = await listener.openPort({ port, owner: this.tenant.path, certificate });
      if (this.tenant.portProblem !== undefined) this.#report(undefined);
      return opened;
    } catch (error) {
      const problem = unavailable(this.tenant.path, port, error);
      if (retryMs === retryMsMin) onError(problem);
      if (this.tenant.portProblem === undefined) this.#report(problem.message);
      this.#retry = detachedClock(clock).after(retryMs, () => {
        this.#opening = this.#open(Math.min(retryMs * 2, retryMsMax));
      });
      return undefined;
    }
  }

  /** After a concurrent change of the Tenant, the next attempt to open the port reports it. */
  #report(problem: string | undefined): void {
    this.#allocator.report(this.tenant.path, problem).catch((error: unknown) => this.#options.onError(error as Error));
  }
}

const unavailable = (path: string, port: number, cause: unknown): Error =>
  new Error(
    `port ${port} of control plane "${path}" cannot be opened, so its nodes cannot connect; retrying: ${(cause as Error).message}`,
    { cause },
  );

export class PlanePorts {
  readonly #options: PlanePortsOptions;
  readonly #ports = new Map<string, PlanePort>();
  /** By port: resolves when the last port with this number is closed. */
  readonly #closing = new Map<number, Promise<void>>();
  readonly #allocator: PortAllocator;
  readonly #unfollow: () => void;

  constructor(options: PlanePortsOptions) {
    this.#options = options;
    this.#allocator = new PortAllocator(options);
    this.#unfollow = options.tenants.follow((path, tenant) => this.#changed(path, tenant));
  }

  /** Resolves when every port of a known tenant is open, or its first attempt failed, and ports of former tenants are closed. */
  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#ports.values(), (port) => port.settled()));
    await Promise.all(this.#closing.values());
  }

  /** Stops opening ports. The listener closes those that are open. */
  async close(): Promise<void> {
    this.#unfollow();
    await Promise.all(Array.from(this.#ports.values(), (port) => port.abandon()));
    await Promise.all(this.#closing.values());
  }

  #changed(path: string, tenant: Tenant | undefined): void {
    const known = this.#ports.get(path);
    if (tenant?.spec.nodes?.enabled && tenant.uid !== known?.tenant.uid) this.#assign(path);
    const isOpen = tenant?.port !== undefined && tenant.spec.nodes?.enabled && !closure(tenant);
    if (known && isOpen && known.port === tenant.port && known.tenant.uid === tenant.uid) {
      known.tenant = tenant;
      return;
    }
    if (known) this.#close(path);
    if (!isOpen) return;
    const after = this.#closing.get(tenant.port) ?? Promise.resolve();
    this.#ports.set(path, new PlanePort(this.#options, this.#allocator, tenant, after));
  }

  /** A concurrent change of the Tenant is followed by another event. */
  #assign(path: string): void {
    this.#allocator.assign(path).catch((error: unknown) => this.#options.onError(error as Error));
  }

  #close(path: string): void {
    const known = this.#ports.get(path)!;
    this.#ports.delete(path);
    const closing = known.close().finally(() => {
      if (this.#closing.get(known.port) === closing) this.#closing.delete(known.port);
    });
    this.#closing.set(known.port, closing);
  }
}
