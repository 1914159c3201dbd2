/** Many requests at the same time, each on a separate connection, from a separate thread. Responses are not read, except for refusals. */

import { request } from 'node:https';
import type { ClientRequest } from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { KeyPair } from '@hangar/pki';

export interface StormOptions {
  readonly port: number;
  readonly ca: string;
  readonly certificate: KeyPair;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly count: number;
}

export interface StormAnswer {
  readonly status: number;
  /** Body of a refusal; empty for other responses. */
  readonly text: string;
}

export class Storm implements AsyncDisposable {
  readonly #worker: Worker;

  /** `onAnswer` is called for each response. */
  constructor(options: StormOptions, onAnswer: (answer: StormAnswer) => void) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: options });
    this.#worker.on('message', onAnswer);
  }

  /** Closes all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function send({ port, ca, certificate, method, path, headers = {} }: StormOptions): ClientRequest {
  const { certificate: cert, key } = certificate;
  const outgoing = request({ host: '127.0.0.1', port, ca, cert, key, method, path, headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.on('response', (response) => {
    const status = response.statusCode!;
    const answer = (text: string): void => parentPort!.postMessage({ status, text } satisfies StormAnswer);
    if (status < 400) return answer('');
    void response.toArray().then((chunks) => answer(chunks.join('')));
  });
  outgoing.end();
  return outgoing;
}

if (!isMainThread && workerData) {
  const options = workerData as StormOptions;
  // A handle keeps the thread alive while connections wait.
  parentPort!.on('message', () => {});
  for (let i = 0; i < options.count; i++) send(options);
}
