/**
 * Stream of one reader: a separate feed, as lines. The initial state is sent at the speed of the reader; later changes are queued in
 * memory, up to a bound (output.ts). A stream closes when its reader disconnects, when the server closes, and within a minute after the
 * permission is revoked.
 *
 * Objects of the management plane are not sent: the permission covers tenants only. For an object that cannot be decoded, only the name is
 * sent, and the error is reported, so that one object does not break the stream.
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
  /** ID by which the reader refers to this stream. */
  readonly session: string;
  /** Aborted when the server closes. */
  readonly closed: AbortSignal;
  /** Bound of the queues of all readers of the server. */
  readonly bound: WaitingBound;
  /** Reports whether the reader still has permission. */
  isAllowed(): Promise<boolean>;
  /** Called once, when the stream is closed. */
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

  /** Must be called once. */
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
    // The reader has disconnected, or the request was a HEAD.
    if (this.#output.isOver) return;
    if (closed.aborted) return this.#output.end();
    closed.addEventListener('abort', onClosed, { once: true });
    this.#line({ type: 'hello', session });
    this.#ping();
    this.#check();
    void this.#feed.follow(this, this.#stopping.signal).then(() => this.#output.end());
  }

  /** `mark` is sent when the state of the control plane is complete. */
  retell(cluster: string, mark?: number): void {
    this.#feed.retell(cluster, mark);
  }

  // Implementation of FeedListener.

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

  /** An error counts as a denial. */
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
