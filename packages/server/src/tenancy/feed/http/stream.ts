/**
 * One reader's stream: a feed of its own, as lines. What a reader is told first is told as fast as it reads; what happens then waits
 * for it in memory, up to a bound (output.ts). A stream ends with its reader, with the server, and within a minute when the right to
 * it is taken away.
 *
 * The management plane's own objects are not told: the right is about tenants. What nobody can decode is told by its name alone, and
 * reported: one object must not end the stream of all.
 */

import type { KubeObject } from '@hangar/api';
import { CodedError } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import type { Sink } from '../../../http/message.ts';
import { rootPath } from '../../layout.ts';
import type { FedChange, FeedListener } from '../contract.ts';
import { namesAlone } from '../fed-change.ts';
import { TenantFeed } from '../tenant-feed.ts';
import type { TenantFeedWorld } from '../tenant-feed.ts';
import { FeedOutput } from './output.ts';
import type { WaitingBound } from './waiting-bound.ts';
import { isSecret, withoutSecrets } from './without-secrets.ts';

export interface FeedStreamOptions {
  readonly world: TenantFeedWorld;
  /** By which the reader can say which stream it means. */
  readonly session: string;
  /** The server's end. */
  readonly closed: AbortSignal;
  /** Of what waits for all readers of the server. */
  readonly bound: WaitingBound;
  /** May the reader still be told? */
  isAllowed(): Promise<boolean>;
  /** Called once, when nothing of it is left. */
  onEnd(): void;
}

const pingEveryMs = 10_000;
const rightsEveryMs = 60_000;

export class FeedStream implements FeedListener {
  readonly #options: FeedStreamOptions;
  readonly #clock: Clock;
  readonly #feed: TenantFeed;
  readonly #stopping = new AbortController();
  #output!: FeedOutput;
  #pinging: Timer | undefined;
  #checking: Timer | undefined;

  constructor(options: FeedStreamOptions) {
    this.#options = options;
    this.#clock = options.world.clock;
    this.#feed = new TenantFeed(options.world);
  }

  /** Once. */
  start(sink: Sink): void {
    const { closed, session, bound, onEnd } = this.#options;
    const onClosed = (): void => this.#output.end();
    const onOver = (): void => {
      closed.removeEventListener('abort', onClosed);
      this.#pinging?.cancel();
      this.#checking?.cancel();
      this.#stopping.abort();
      onEnd();
    };
    this.#output = new FeedOutput({ sink, clock: this.#clock, bound, onOver });
    // Nobody is there, or wants more than the head.
    if (this.#output.isOver) return;
    if (closed.aborted) return this.#output.end();
    closed.addEventListener('abort', onClosed, { once: true });
    this.#line({ type: 'hello', session });
    this.#ping();
    this.#check();
    void this.#feed.follow(this, this.#stopping.signal).then(() => this.#output.end());
  }

  /** The mark is told with the end of what is told for it. */
  retell(cluster: string, mark?: number): void {
    this.#feed.retell(cluster, mark);
  }

  // What the feed tells.

  wants(): boolean {
    return true;
  }

  ready(): Promise<void> | undefined {
    return this.#output.ready();
  }

  changed(change: FedChange): void {
    const { type, cluster, group, resource, namespace, name, resourceVersion, isInitial } = change;
    if (cluster === rootPath) return;
    this.#line({ type, cluster, group, resource, namespace, name, resourceVersion, isInitial }, this.#bytesOf(change));
  }

  synced(): void {
    this.#line({ type: 'synced' });
  }

  reset(): void {
    this.#line({ type: 'reset' });
  }

  clusterChanged(cluster: string, tenant: KubeObject): void {
    this.#output.line(JSON.stringify({ type: 'tenant', cluster }));
    this.#output.line(JSON.stringify(tenant));
  }

  clusterTold(cluster: string, mark?: number): void {
    this.#line({ type: 'told', cluster, mark });
  }

  clusterGone(cluster: string): void {
    this.#line({ type: 'gone', cluster });
  }

  #bytesOf(change: FedChange): Uint8Array {
    try {
      return isSecret(change) ? withoutSecrets(change) : change.bytes;
    } catch (cause) {
      const { cluster, group, resource, namespace, name } = change;
      const what = `${resource}${group === '' ? '' : `.${group}`} ${namespace}/${name} of tenant ${cluster}`;
      const message = `cannot decode the stored value of ${what}: the tenant feed sends its name only`;
      this.#options.world.onError(new CodedError('UndecodableValue', message, { cause }));
      return namesAlone(change);
    }
  }

  #line(head: object, bytes?: Uint8Array): void {
    this.#output.line(JSON.stringify(head), bytes);
  }

  #ping(): void {
    const leftMs = pingEveryMs - this.#output.silentMs;
    if (leftMs <= 0) this.#line({ type: 'ping' });
    this.#pinging = this.#clock.after(leftMs <= 0 ? pingEveryMs : leftMs, () => this.#ping());
  }

  /** Who cannot be found out to be allowed is not. */
  #check(): void {
    this.#checking = this.#clock.after(rightsEveryMs, () => {
      const checked = this.#options.isAllowed().catch(() => false);
      void checked.then((isAllowed) => {
        if (this.#output.isOver) return;
        if (isAllowed) this.#check();
        else this.#output.cut();
      });
    });
  }
}
