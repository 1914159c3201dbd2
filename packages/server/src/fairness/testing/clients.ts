/** Clients of a `FairQueue` in a virtual loop, each with one concurrent request. */

import type { Peer } from '../../http/message.ts';
import type { FairQueue, Ticket } from '../fair-queue.ts';
import type { PriorityLevel } from '../flow-control/priority-level.ts';
import { TenantQueue } from '../tenant-queue.ts';
import type { VirtualLoop } from './virtual-loop.ts';

export const level = (name: string, rest: Partial<PriorityLevel> = {}): PriorityLevel => ({
  name,
  uid: name,
  isExempt: false,
  shares: 100,
  lendable: 0,
  borrowable: Infinity,
  queuing: { ofFlowMax: 300, max: 6_400 },
  ...rest,
});

export const place = (one: PriorityLevel, flow = '') => ({
  level: one,
  flow,
  labels: `{priority_level="${one.name}"}`,
});

export const ordinary = place(level('ordinary'));

export interface Load {
  readonly connections: number;
  /** Loop time per request. */
  readonly costMs: number | (() => number);
  /** Requests come from connections: reading costs `readMs`, and handling until the request enters costs `handleMs`. */
  readonly socket?: { readonly readMs: number; readonly handleMs: number };
  readonly place?: typeof ordinary;
  readonly isMutating?: boolean;
}

export class Clients {
  readonly tenant: TenantQueue;
  answered = 0;
  refused = 0;
  busyMs = 0;
  /** Time from sending to completion of each request. */
  readonly latencies: number[] = [];
  readonly #world: { readonly loop: VirtualLoop; readonly queue: FairQueue };
  #isOver = false;

  constructor(world: { readonly loop: VirtualLoop; readonly queue: FairQueue }, name: string | TenantQueue) {
    this.#world = world;
    this.tenant = typeof name === 'string' ? new TenantQueue(name) : name;
  }

  /** Each connection sends its next request as soon as it has a response. */
  flood(load: Load): void {
    for (let n = 0; n < load.connections; n++) this.#again(load, { address: `${n}`, certificate: undefined });
  }

  /** Sends one request per period, regardless of earlier ones. */
  every(periodMs: number, load: Load, dueMs = this.#world.loop.monotonicMs()): void {
    if (this.#isOver) return;
    this.#send(load, () => {});
    const nextMs = dueMs + periodMs;
    const { loop } = this.#world;
    loop.after(Math.max(0, nextMs - loop.monotonicMs()), () => this.every(periodMs, load, nextMs));
  }

  stop(): void {
    this.#isOver = true;
  }

  #again(load: Load, peer: Peer): void {
    this.#send(load, () => this.#again(load, peer), peer);
  }

  #send(load: Load, then: () => void, peer?: Peer): void {
    if (this.#isOver) return;
    const { loop, queue } = this.#world;
    const sentMs = loop.monotonicMs();
    const { isMutating = false } = load;
    const handle = (): void => {
      if (load.socket) {
        loop.spend(load.socket.handleMs);
        queue.cameFrom(peer!, this.tenant, false);
      }
      const ticket = queue.enter(this.tenant, isMutating);
      const answer = (given: Ticket): void => {
        const costMs = typeof load.costMs === 'number' ? load.costMs : load.costMs();
        loop.spend(costMs);
        this.busyMs += costMs;
        this.answered++;
        this.latencies.push(loop.monotonicMs() - sentMs);
        queue.leave(given);
        then();
      };
      if (ticket) return answer(ticket);
      const asked = { place: load.place ?? ordinary, isMutating, onGone: undefined };
      queue.wait(this.tenant, asked).then(answer, () => {
        this.refused++;
        then();
      });
    };
    loop.comes(() => {
      if (!load.socket) return handle();
      loop.spend(load.socket.readMs);
      queue.take(peer!, handle);
    });
  }
}
