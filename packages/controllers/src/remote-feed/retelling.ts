/**
 * Asks the server to tell control planes again: those of one turn in one request, one request at a time, always of the stream that is
 * there now. What is asked for while there is none waits for the next one.
 *
 * Each request has a mark, which the server repeats when it has told what was asked for: so an answer to an earlier question is not
 * taken for one to the last.
 */

import { ReceivedStatusError } from '@hangar/client';
import type { Client } from '@hangar/client';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { feedPath, refusalOf } from './request.ts';

export interface RetellingOptions {
  readonly client: Pick<Client, 'raw'>;
  readonly clock: Clock;
}

/** A stream that can be asked. */
export interface AskedStream {
  readonly session: string;
  readonly signal: AbortSignal;
  /** It cannot be asked any more, or not be relied on: it must begin anew. */
  failed(error: Error): void;
}

/** Names have 63 characters at most: far below what a server takes in one body. */
const clustersMax = 5_000;
/** No mark of a request. */
const unsent = 0;

export class Retelling {
  readonly #options: RetellingOptions;
  /** To be asked for. */
  #clusters = new Set<string>();
  /** Of those that were not told since: the mark of the last request for them; `unsent` when it is still to be sent. */
  readonly #marks = new Map<string, number>();
  #lastMark = unsent;
  #stream: AskedStream | undefined;
  #isAsking = false;

  constructor(options: RetellingOptions) {
    this.#options = options;
  }

  ask(cluster: string): void {
    this.#clusters.add(cluster);
    this.#marks.set(cluster, unsent);
    this.#soon();
  }

  /** A control plane was told, perhaps because a request with this mark had asked for it. False: it was asked for again since. */
  isLast(cluster: string, mark: unknown): boolean {
    const wanted = this.#marks.get(cluster);
    if (wanted !== undefined && wanted !== mark) return false;
    this.#marks.delete(cluster);
    return true;
  }

  /** It has gone. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
    this.#marks.delete(cluster);
  }

  /** Everything is told anew. */
  clear(): void {
    this.#clusters.clear();
    this.#marks.clear();
  }

  begin(stream: AskedStream): void {
    this.#stream = stream;
    this.#soon();
  }

  /** The stream has ended: whatever comes next tells everything. */
  end(): void {
    this.#stream = undefined;
    this.clear();
  }

  #soon(): void {
    if (this.#isAsking || !this.#stream || this.#clusters.size === 0) return;
    this.#isAsking = true;
    this.#options.clock.soon(() => void this.#askAll());
  }

  async #askAll(): Promise<void> {
    const stream = this.#stream;
    try {
      while (stream && stream === this.#stream && this.#clusters.size > 0) await this.#send(stream, this.#some());
    } catch (error) {
      if (!stream!.signal.aborted) stream!.failed(asError(error));
    }
    this.#isAsking = false;
    this.#soon();
  }

  #some(): string[] {
    const some = this.#clusters.values().take(clustersMax).toArray();
    for (const cluster of some) this.#clusters.delete(cluster);
    return some;
  }

  async #send({ session, signal }: AskedStream, retell: readonly string[]): Promise<void> {
    const mark = ++this.#lastMark;
    for (const cluster of retell) this.#marks.set(cluster, mark);
    const answer = await this.#options.client.raw({
      method: 'POST',
      target: feedPath,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ session, retell, mark })),
      signal,
    });
    const text = (await answer.body()).toString();
    if (answer.status !== 202) throw new ReceivedStatusError(refusalOf(answer.status, text));
  }
}
