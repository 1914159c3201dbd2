/**
 * `/healthz` and `/readyz` as in Kubernetes components: `ok`, or a line for each check if one fails or with `?verbose`; `?exclude=name`
 * skips a check; `/readyz/name` runs one check. The reason of a failure is only in the log, because clients of the port are not
 * authenticated.
 */

import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { bounded } from '../bounded.ts';
import type { Reply } from './http-server.ts';

/** A health check. It fails if it throws, rejects or times out. */
export type HealthCheck = (signal: AbortSignal) => void | Promise<void>;

export interface HealthOptions {
  /** Appears in the last line: `readyz`. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly timeoutMs: number;
}

const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const reply = (status: number, body: string): Reply => ({ status, headers, body });

export class Health {
  readonly #options: HealthOptions;
  readonly #checks = new Map<string, HealthCheck>();

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Replaces a check of the same name. */
  add(name: string, check: HealthCheck): void {
    this.#checks.set(name, check);
  }

  /** `name`: the path after `/readyz/`; '' runs all checks. */
  async answer(name: string, query: URLSearchParams): Promise<Reply> {
    if (name !== '') return this.#one(name);
    const excluded = new Set(query.getAll('exclude'));
    const checks = this.#checks.size === 0 ? [['ping', () => {}] as const] : [...this.#checks];
    const lines = await Promise.all(
      checks.map(async ([name, check]) => {
        if (excluded.delete(name)) return `[+]${name} excluded: ok`;
        return (await this.#isWell(name, check)) ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
      }),
    );
    const isWell = !lines.some((line) => line.startsWith('[-]'));
    if (isWell && !query.has('verbose')) return reply(200, 'ok');
    lines.sort((a, b) => (a.slice(3) < b.slice(3) ? -1 : 1));
    if (excluded.size > 0) {
      const names = Array.from(excluded, (name) => JSON.stringify(name)).join(',');
      lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
    }
    lines.push(`${this.#options.name} check ${isWell ? 'passed' : 'failed'}`, '');
    return reply(isWell ? 200 : 500, lines.join('\n'));
  }

  async #one(name: string): Promise<Reply> {
    const check = this.#checks.get(name) ?? (name === 'ping' && this.#checks.size === 0 ? () => {} : undefined);
    if (!check) return reply(404, '404 page not found\n');
    return (await this.#isWell(name, check))
      ? reply(200, 'ok')
      : reply(500, 'internal server error: reason withheld\n');
  }

  async #isWell(name: string, check: HealthCheck): Promise<boolean> {
    const { clock, log, timeoutMs } = this.#options;
    try {
      await bounded({ clock, timeoutMs }, check);
      return true;
    } catch (error) {
      log?.info('health check failed', { endpoint: this.#options.name, check: name, error: asError(error) });
      return false;
    }
  }
}
