/** Accounts for the requests to one open tenant: for its usage record, for its quota of watches, and for the metrics of the platform. */

import type { Clock } from '@hangar/core';
import { closingWith, isStreaming } from '../../http/message.ts';
import type { Answer, ServerRequest } from '../../http/message.ts';
import type { RequestInfo } from '../../request/info.ts';
import type { TenantMetrics } from '../metrics/tenant-metrics.ts';
import { tooManyWatches } from '../quota/refusal.ts';
import type { Tenant } from '../tenant.ts';
import type { Meter } from './meter.ts';

export interface AccountOptions {
  readonly clock: Clock;
  /** Returns the current state. */
  readonly tenant: () => Tenant;
  readonly meter: Meter;
  readonly metrics: TenantMetrics;
}

const reads = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Unauthenticated or throttled requests are not charged to the tenant. */
const unpaid = new Set([401, 429]);

export class TenantAccount {
  readonly #options: AccountOptions;
  /** Watches that were admitted and are not answered yet. */
  readonly #beginning = new Set<ServerRequest>();

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  /** Throws 429 for a watch beyond the quota. Called after authentication, before any work. */
  admit(info: RequestInfo, request: ServerRequest): void {
    if (info.verb !== 'watch') return;
    const { path, spec } = this.#options.tenant();
    const limit = spec.quota?.watches;
    const watches = this.#options.meter.watches + this.#beginning.size;
    if (limit !== undefined && watches >= limit) throw tooManyWatches(path, watches, limit);
    this.#beginning.add(request);
  }

  /** `answer` must not reject. */
  async account(request: ServerRequest, answer: (request: ServerRequest) => Promise<Answer>): Promise<Answer> {
    const { clock, meter, metrics, tenant } = this.#options;
    const begunMs = clock.monotonicMs();
    const given = await answer(request);
    const isWatch = this.#beginning.delete(request);
    const { path } = tenant();
    const durationMs = isWatch ? undefined : clock.monotonicMs() - begunMs;
    metrics.answered(path, given.status, durationMs);
    if (!unpaid.has(given.status)) meter.requested(reads.has(request.method), durationMs);
    return isWatch ? this.#watched(path, given) : given;
  }

  #watched(path: string, answer: Answer): Answer {
    const { body } = answer;
    if (!isStreaming(body)) return answer;
    // Counted from now on: between the answer and its first byte, another watch must not take its place.
    const { meter, metrics } = this.#options;
    const ended = [meter.watchBegan(), metrics.watchBegan(path)];
    const onClose = (): void => {
      for (const end of ended.splice(0)) end();
    };
    return { ...answer, body: closingWith(body, onClose) };
  }
}
