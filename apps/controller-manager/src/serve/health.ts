/**
 * `/healthz`, `/livez` and `/readyz` as Kubernetes' components answer them: `ok`, or a line for each check when one fails or with
 * `?verbose`; `?exclude=name` leaves one out; `/readyz/name` is that one alone.
 *
 * The process is ready when the fleet is synced, it has joined the other replicas, and its initial clusters were attempted. It stays ready:
 * clusters may be added later.
 * The health of single clusters is shown and does not affect readiness: taking this process out of service for one cluster helps no other.
 */

import type { ClusterRow, ServiceState } from '../contract.ts';
import { byName } from './by-name.ts';
import { shownServices, stateOf } from './clusters/described.ts';
import { plain } from './plain-text.ts';

export interface HealthAnswer {
  readonly status: 200 | 404 | 500;
  readonly text: string;
}

export interface HealthQuery {
  /** `fleet` of `/readyz/fleet`. */
  readonly only: string | undefined;
  readonly query: URLSearchParams;
  /** Whether the client may see the clusters. */
  readonly showsClusters: boolean;
}

interface Check {
  readonly name: string;
  /** Shown only; does not affect the result. */
  readonly lines?: readonly string[];
  /** Why the check fails. */
  readonly problem?: string | undefined;
}

export interface HealthOptions {
  readonly rows: () => Iterable<ClusterRow>;
  readonly isSynced: () => boolean;
  /** Whether this process can own clusters: it has joined the other replicas, or is the only one. */
  readonly hasJoined: () => boolean;
}

const ping: Check = { name: 'ping' };

export class Health {
  readonly #options: HealthOptions;
  #hasTriedAll = false;
  #hasJoined = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** The event loop answers: a restart could fix nothing else. */
  live(kind: 'healthz' | 'livez', query: HealthQuery): HealthAnswer {
    return answer(kind, [ping], query);
  }

  ready(query: HealthQuery): HealthAnswer {
    const rows = byName(this.#options.rows()).filter(({ isOwned }) => isOwned);
    const checks = [
      ping,
      this.#fleet(),
      this.#leases(),
      this.#firstAttempts(rows),
      ...(query.showsClusters ? rows.map(clusterCheck) : []),
    ];
    return answer('readyz', checks, query);
  }

  #fleet(): Check {
    return { name: 'fleet', problem: this.#options.isSynced() ? undefined : 'not synced' };
  }

  #leases(): Check {
    this.#hasJoined ||= this.#options.hasJoined();
    const problem = this.#hasJoined ? undefined : 'this replica has not joined the shard group: see the log';
    return { name: 'leases', problem };
  }

  #firstAttempts(rows: readonly ClusterRow[]): Check {
    const untried = this.#hasTriedAll ? 0 : rows.filter((row) => !wasTried(row)).length;
    this.#hasTriedAll ||= untried === 0 && this.#hasJoined && this.#options.isSynced();
    const problem = untried === 0 ? undefined : `${untried} of ${rows.length} clusters are not started yet`;
    return { name: 'first-attempts', problem };
  }
}

const wasTried = (row: ClusterRow): boolean =>
  shownServices(row).every((service) => {
    const state = row.states.get(service);
    return state !== undefined && (state.phase !== 'Starting' || state.restarts > 0 || state.lastError !== undefined);
  });

function clusterCheck(row: ClusterRow): Check {
  const name = `cluster/${row.cluster.name}`;
  const lines = shownServices(row).map((service) => {
    const state = stateOf(row, service);
    const subject = `${plain(name)} ${service}`;
    if (state.phase !== 'Ready') return `[-]${subject} not ready: ${plain(`${state.reason}: ${state.message}`)}`;
    return `[+]${subject} ready (${details(row.engines.get(service), state)})`;
  });
  return { name, lines };
}

const details = (engine: string | undefined, { process, restarts }: ServiceState): string =>
  [engine, process && `pid ${process.pid}`, `restarts ${restarts}`].filter((part) => part !== undefined).join(', ');

function answer(kind: string, checks: readonly Check[], { only, query }: HealthQuery): HealthAnswer {
  if (only !== undefined && only !== '') return answerOne(checks, only);
  const excluded = new Set(query.getAll('exclude'));
  const isExcluded = ({ name }: Check): boolean => excluded.has(name);
  const isWell = checks.every((check) => check.problem === undefined || isExcluded(check));
  if (isWell && !query.has('verbose')) return { status: 200, text: 'ok' };
  const lines = checks.flatMap((check) =>
    isExcluded(check) ? [`[+]${plain(check.name)} excluded: ok`] : linesOf(check),
  );
  const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(plain(name))).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  lines.push(`${kind} check ${isWell ? 'passed' : 'failed'}`, '');
  return { status: isWell ? 200 : 500, text: lines.join('\n') };
}

function answerOne(checks: readonly Check[], only: string): HealthAnswer {
  const check = checks.find(({ name }) => name === only);
  if (!check) return { status: 404, text: '404 page not found\n' };
  if (check.problem !== undefined) return { status: 500, text: `internal server error: ${check.problem}\n` };
  if (!check.lines) return { status: 200, text: 'ok' };
  // A check of one cluster alone reports that cluster.
  return {
    status: check.lines.every((line) => line.startsWith('[+]')) ? 200 : 500,
    text: `${check.lines.join('\n')}\n`,
  };
}

const linesOf = ({ name, lines, problem }: Check): readonly string[] =>
  lines ?? [problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`];
