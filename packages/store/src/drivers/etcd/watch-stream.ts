/**
 * One etcd watch on its own stream.
 *
 * Behaviour of etcd (3.5 to 3.7): a response holds whole revisions, in order; it is split only if fragments are requested (this driver does
 * not request them; a marked fragment is still reassembled). A request for progress is dropped without an answer while the watch is
 * catching up, and may overtake the first events while the watch is not confirmed yet: so it is sent only after `onCreated`, and again
 * until an answer comes. Progress marks are in order with events since 3.5.8.
 */

import { GrpcError, grpcStatus } from '@hangar/http2/grpc';
import type { Revision } from '../../contract.ts';
import type { Client } from './client.ts';
import type { Call, Connection } from './grpc/connection.ts';
import { decodeWatch, encodeWatchCreate, encodeWatchProgress, watchMethod } from './messages/watch.ts';
import type { WatchedEvent, WatchRequest } from './messages/watch.ts';
import { judge, judgeReason } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export interface WatchStreamHandler {
  onCreated(): void;
  /** Called with all events of one or several revisions. */
  onEvents(events: readonly WatchedEvent[]): void;
  /** Called when everything up to here was passed to `onEvents`. */
  onProgress(revision: Revision): void;
  /** Called when the watch ended because it began before this revision. */
  onCompacted(compactRevision: Revision): void;
  /** Called when the watch ended for another reason, other than `cancel`. Either this or `onCompacted`, once, last. */
  onEnd(verdict: Verdict): void;
}

const progressFrame = encodeWatchProgress();

export class WatchStream {
  readonly #handler: WatchStreamHandler;
  #call: Call | undefined;
  #created = false;
  #ended = false;
  #fragments: WatchedEvent[] = [];

  constructor(client: Client, connection: Connection, request: WatchRequest, handler: WatchStreamHandler) {
    this.#handler = handler;
    void this.#open(client, connection, request);
  }

  requestProgress(): void {
    if (this.#created && !this.#ended) this.#call?.write(progressFrame);
  }

  /** No callback is called afterwards. */
  cancel(): void {
    this.#ended = true;
    this.#call?.cancel();
  }

  async #open(client: Client, connection: Connection, request: WatchRequest): Promise<void> {
    try {
      this.#call = await client.stream(connection, watchMethod, {
        onMessage: (message) => this.#onMessage(message),
        onEnd: (error) =>
          this.#end(
            judge(error ?? new GrpcError(grpcStatus.unavailable, 'the watch stream was closed', { fate: 'lost' })),
          ),
      });
      if (this.#ended) this.#call.cancel();
      else this.#call.write(encodeWatchCreate(request));
    } catch (error) {
      this.#end(judge(error));
    }
  }

  #onMessage(message: Buffer): void {
    if (this.#ended) return;
    const response = decodeWatch(message);
    if (response.canceled) {
      if (response.compactRevision > 0) this.#compacted(response.compactRevision);
      else this.#end(judgeReason(response.cancelReason));
      this.#call?.cancel();
    } else if (response.created) {
      this.#created = true;
      this.#handler.onCreated();
    } else if (response.fragment) {
      for (const event of response.events) this.#fragments.push(event);
    } else if (this.#fragments.length > 0) {
      const events = [...this.#fragments, ...response.events];
      this.#fragments = [];
      this.#handler.onEvents(events);
    } else if (response.events.length > 0) this.#handler.onEvents(response.events);
    else this.#handler.onProgress(response.revision);
  }

  #compacted(compactRevision: Revision): void {
    this.#ended = true;
    this.#handler.onCompacted(compactRevision);
  }

  #end(verdict: Verdict): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handler.onEnd(verdict);
  }
}
