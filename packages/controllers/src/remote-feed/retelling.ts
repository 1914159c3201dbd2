/**
 * Asks the server to tell control planes again: those of one turn in one request, one request at a time, always of the stream that is
 * there now. What is asked for while there is none waits for the next one.
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

export class Retelling {
  readonly #options: RetellingOptions;
  #clusters = new Set<string>();
  #stream: AskedStream | undefined;
  #isAsking = false;

  constructor(options: RetellingOptions) {
    this.#options = options;
  }

  ask(cluster: string): void {
    this.#clusters.add(cluster);
    this.#soon();
  }

  begin(stream: AskedStream): void {
    this.#stream = stream;
    this.#soon();
  }

  /** The stream has ended: whatever comes next tells everything. */
  end(): void {
    this.#stream = undefined;
    this.#clusters.clear();
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
    const answer = await this.#options.client.raw({
      method: 'POST',
      target: feedPath,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ session, retell })),
      signal,
    });
    const text = (await answer.body()).toString();
    if (answer.status !== 202) throw new ReceivedStatusError(refusalOf(answer.status, text));
  }
}
