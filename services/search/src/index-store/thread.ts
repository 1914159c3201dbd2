/** The main thread's end of a thread of the index: requests and their replies in order. */

import module from 'node:module';
import { Worker } from 'node:worker_threads';
import { SearchError } from '../errors.ts';
import type { ReaderRequest, WriterRequest } from './contract.ts';
import type { ThreadData, ThreadReply } from './thread-main.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const memoryMb = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

export class IndexThread<Request extends WriterRequest | ReaderRequest> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #lastId = 0;
  #failure: SearchError | undefined;

  constructor(role: ThreadData['role']) {
    const compileCache = module.getCompileCacheDir?.();
    this.#worker = new Worker(new URL('thread-entry.js', import.meta.url), {
      workerData: { role, ...(compileCache === undefined ? {} : { compileCache }) } satisfies ThreadData,
      resourceLimits: memoryMb,
    });
    this.#worker.on('message', (reply: ThreadReply) => this.#replied(reply));
    this.#worker.on('error', (error: Error) => this.#failed(new SearchError('IndexFailed', error.message)));
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#failed(new SearchError('IndexClosed', 'the thread of the index exited'));
        resolve();
      });
    });
  }

  /** Rejects with `IndexFailed` if the request fails. */
  send<Reply>(request: Request): Promise<Reply> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage({ id, request });
    return promise as Promise<Reply>;
  }

  /** Number of requests without a reply. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Waits for the requests that were sent before. Never rejects. */
  async close(): Promise<void> {
    await this.send({ type: 'close' } as Request).catch(() => undefined);
    await this.#exited;
  }

  #replied(reply: ThreadReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('error' in reply) waiting?.reject(new SearchError('IndexFailed', reply.error));
    else waiting?.resolve(reply.value);
  }

  #failed(error: SearchError): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
