/**
 * Parses large YAML in a separate thread: a parser that cannot pause must not block the event loop. The thread starts with the first
 * document, parses one at a time, and exits after it was idle for a while. Tenants take turns, each with one document.
 */

import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { ApiError } from '../errors.ts';
import type { ApiErrorCode } from '../errors.ts';

export interface ThreadRequest {
  readonly text: string;
  readonly findRepeated: boolean;
}

export type ThreadReply =
  | { readonly json: string; readonly problems: readonly string[] }
  | { readonly code: ApiErrorCode; readonly message: string };

export interface ParsedInThread {
  readonly json: string;
  readonly problems: readonly string[];
}

/** 3 MB take less than a second of CPU. */
const parseMsMax = 30_000;
const idleMsMax = 10_000;
const memoryMbMax = 512;

interface Job {
  readonly request: ThreadRequest;
  resolve(parsed: ParsedInThread): void;
  reject(error: Error): void;
}

export interface YamlThreadLimits {
  /** Limit of waiting documents of all tenants. */
  readonly waitingMax: number;
  readonly waitingPerTenantMax: number;
}

export class YamlThread {
  readonly #limits: YamlThreadLimits;
  /** By tenant. The first tenant is next; a tenant without a waiting document is absent. */
  readonly #waiting = new Map<string, Job[]>();
  #waitingCount = 0;
  #thread: Worker | undefined;
  #current: Job | undefined;
  #timer: Timer | undefined;

  constructor(limits: YamlThreadLimits) {
    this.#limits = limits;
  }

  /** Rejects with MalformedYaml, TooDeep, TooLarge if it takes too long, and Busy if too many wait. */
  parse(request: ThreadRequest, tenant: string): Promise<ParsedInThread> {
    const { waitingMax, waitingPerTenantMax } = this.#limits;
    const waiting = this.#waiting.get(tenant) ?? [];
    if (this.#waitingCount >= waitingMax || waiting.length >= waitingPerTenantMax) {
      return Promise.reject(new ApiError('Busy', 'too many large YAML documents are being parsed'));
    }
    return new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      this.#waiting.set(tenant, waiting);
      this.#waitingCount++;
      this.#next();
    });
  }

  /** Returns the next document of the first tenant, and moves this tenant behind the others. */
  #take(): Job | undefined {
    for (const [tenant, jobs] of this.#waiting) {
      this.#waiting.delete(tenant);
      const job = jobs.shift();
      if (jobs.length > 0) this.#waiting.set(tenant, jobs);
      this.#waitingCount--;
      return job;
    }
    return undefined;
  }

  #next(): void {
    if (this.#current) return;
    this.#timer?.cancel();
    this.#current = this.#take();
    if (!this.#current) {
      this.#timer = systemClock.after(idleMsMax, () => this.#end());
      return;
    }
    this.#timer = systemClock.after(parseMsMax, () => {
      this.#end();
      this.#settle({ code: 'TooLarge', message: 'the YAML document takes too long to parse' });
    });
    this.#thread ??= this.#start();
    this.#thread.postMessage(this.#current.request);
  }

  #start(): Worker {
    const cache = getCompileCacheDir();
    const thread = new Worker(new URL('./thread-entry.js', import.meta.url), {
      name: 'yaml',
      workerData: cache === undefined ? {} : { compileCache: dirname(cache) },
      resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
    });
    const failed = (): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#settle({ code: 'TooLarge', message: 'the YAML document takes too much memory' });
    };
    thread.on('message', (reply: ThreadReply) => this.#settle(reply));
    thread.on('error', failed);
    thread.on('exit', failed);
    // An idle thread does not keep the process alive; a pending request does.
    thread.unref();
    return thread;
  }

  #end(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }

  #settle(reply: ThreadReply): void {
    const job = this.#current;
    this.#current = undefined;
    if (job) {
      if ('json' in reply) job.resolve(reply);
      else job.reject(new ApiError(reply.code, reply.message));
    }
    this.#next();
  }
}
