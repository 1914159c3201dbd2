/** `/livez`, `/readyz`, `/healthz`: single checks, or all of them. */

import { PageNotFound } from '../objects/page-not-found.ts';
import type { Answer } from '../http/message.ts';
import { healthPaths } from '../request/public-paths.ts';

export interface HealthCheck {
  readonly name: string;
  /** Returns the reason if unhealthy; undefined if healthy. */
  check(): string | undefined | Promise<string | undefined>;
  /** Informational: listed in verbose output, but never makes the server unready. */
  readonly isAdvisory?: boolean;
}

export interface HealthChecks {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

export async function healthAnswer(path: string, query: string, checks: HealthChecks): Promise<Answer> {
  const [, kind = '', only] = healthPaths.exec(path)!;
  const all = kind === 'livez' ? checks.livez : checks.readyz;
  const parameters = new URLSearchParams(query);
  if (only !== undefined && only !== '') {
    const found = all.find(({ name }) => name === only);
    if (!found) throw new PageNotFound();
    const problem = await found.check();
    return text(problem === undefined ? 200 : 500, problem === undefined ? 'ok' : `internal server error: ${problem}`);
  }
  const excluded = new Set(parameters.getAll('exclude'));
  const lines: string[] = [];
  let isHealthy = true;
  for (const { name, check, isAdvisory } of all) {
    if (excluded.has(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const problem = await check();
    if (problem === undefined) lines.push(`[+]${name} ok`);
    else {
      isHealthy &&= isAdvisory === true;
      lines.push(`[-]${name} failed: ${isAdvisory ? 'for information only' : 'reason withheld'}`);
    }
  }
  if (!isHealthy) return text(500, `${lines.join('\n')}\n${kind} check failed\n`);
  return text(200, parameters.has('verbose') ? `${lines.join('\n')}\n${kind} check passed\n` : 'ok');
}

const text = (status: number, body: string): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from(body),
});
