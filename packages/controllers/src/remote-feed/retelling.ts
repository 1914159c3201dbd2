/**
 * Requests replays of control planes from the server: batches those of one turn into one request, one request at a time, for the current
 * stream. Requests without a stream wait for the next one.
 *
 * Each request has a mark, which the server returns at the end of the replay, so that the end of an earlier replay is not taken for that of
 * the last one.
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

/** A stream that accepts replay requests. */
export interface AskedStream {
  readonly session: string;
  readonly signal: AbortSignal;
  /** Called when the stream rejects requests or is unreliable: it must reconnect. */
  failed(error: Error): void;
}

/** Names have at most 63 characters: far below the maximum body size of a server. */
const clustersMax = 5_000;
/** Stands for a request that is not sent yet. */
const unsent = 0;

export class Retelling {
  readonly #options: RetellingOptions;
  /** Control planes to request. */
  #clusters = new Set<string>();
  /** Mark of the last request for each control plane with a pending replay; `unsent` when it is not sent yet. */
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

  /** Called at the end of a replay, perhaps of a request with this mark. Returns false if another replay was requested since. */
  isLast(cluster: string, mark: unknown): boolean {
    const wanted = this.#marks.get(cluster);
    if (wanted !== undefined && wanted !== mark) return false;
    this.#marks.delete(cluster);
    return true;
  }

  /** Called when the control plane was deleted. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
    this.#marks.delete(cluster);
  }

  /** Called when everything is delivered again. */
  clear(): void {
    this.#clusters.clear();
    this.#marks.clear();
  }

  begin(stream: AskedStream): void {
    this.#stream = stream;
    this.#soon();
  }

  /** Called when the stream closed: the next one delivers everything. */
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
