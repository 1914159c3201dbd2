/** Routes paths to answers. Independent of sockets. */

import { notFound, StatusError, unauthorized } from '@hangar/api/status';
import type { Clock } from '@hangar/core';
import type { ClusterRow } from '../contract.ts';
import { json, plainText, refusal } from './answer.ts';
import type { Answer } from './answer.ts';
import { describeCluster, describeClusters } from './clusters/described.ts';
import type { DescribedCluster } from './clusters/described.ts';
import { clustersTable } from './clusters/table.ts';
import type { Health } from './health.ts';
import type { Scraper } from './metrics/scraper.ts';

export interface Asked {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly accept: string | undefined;
}

export interface RoutesOptions {
  readonly rows: () => Iterable<ClusterRow>;
  readonly health: Health;
  readonly scraper: Scraper;
  /** Reports whether this header permits access to clusters and metrics. */
  readonly admits: (authorization: string | undefined) => Promise<boolean>;
  readonly clock: Clock;
}

interface Request {
  readonly asked: Asked;
  /** The part of the path behind the route and a slash. Undefined: none. */
  readonly rest: string | undefined;
  readonly query: URLSearchParams;
}

const clusterResource = { group: '', resource: 'clusters' };
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export class Routes {
  readonly #options: RoutesOptions;
  readonly #routes: Readonly<Record<string, (request: Request) => Answer | Promise<Answer>>> = {
    healthz: (request) => this.#live('healthz', request),
    livez: (request) => this.#live('livez', request),
    readyz: (request) => this.#ready(request),
    clusters: (request) => this.#ifAdmitted(request, () => this.#clusters(request)),
    metrics: (request) => this.#ifAdmitted(request, () => this.#metrics(request)),
  };

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  /** Rejects with a StatusError, or with an internal error. */
  async answer(asked: Asked): Promise<Answer> {
    const [path = '', ...query] = asked.target.split('?');
    const [, name = '', rest] = /^\/([a-z]+)(?:\/(.*))?$/.exec(path) ?? [];
    const route = Object.hasOwn(this.#routes, name) ? this.#routes[name] : undefined;
    if (!route) return refusal(unknownPath());
    if (asked.method !== 'GET' && asked.method !== 'HEAD') {
      return refusal(new StatusError('MethodNotAllowed', 'the server only answers GET and HEAD'), {
        allow: 'GET, HEAD',
      });
    }
    const request = { asked, rest: decoded(rest), query: new URLSearchParams(query.join('?')) };
    const answer = await route(request);
    return asked.method === 'HEAD' ? { ...answer, body: undefined } : answer;
  }

  #live(kind: 'healthz' | 'livez', { rest, query }: Request): Answer {
    const { status, text } = this.#options.health.live(kind, { only: rest, query, showsClusters: false });
    return plainText(status, text);
  }

  /** Names and messages of clusters only for clients with access to `/clusters`. */
  async #ready({ asked, rest, query }: Request): Promise<Answer> {
    const isDetailed = Boolean(rest) || query.has('verbose') || query.has('exclude');
    const showsClusters = isDetailed && (await this.#options.admits(asked.authorization));
    const { status, text } = this.#options.health.ready({ only: rest, query, showsClusters });
    return plainText(status, text);
  }

  async #ifAdmitted({ asked }: Request, answer: () => Answer | Promise<Answer>): Promise<Answer> {
    if (await this.#options.admits(asked.authorization)) return answer();
    return refusal(unauthorized(), { 'www-authenticate': 'Bearer' });
  }

  #clusters({ asked, rest, query }: Request): Answer {
    const isTable = query.has('o') ? query.get('o') === 'table' : prefersText(asked.accept);
    const now = this.#options.clock.now();
    const table = (clusters: readonly DescribedCluster[], isAll: boolean): Answer =>
      plainText(200, clustersTable(clusters, { isAll, now }));
    if (rest === undefined || rest === '') {
      const described = describeClusters(this.#options.rows());
      return isTable ? table(described.clusters, query.has('all')) : json(200, described);
    }
    const found = this.#find(rest);
    if (!found) return refusal(notFound(clusterResource, rest));
    const described = describeCluster(found);
    return isTable ? table([described], !found.isOwned || query.has('all')) : json(200, described);
  }

  /** `?cluster=NAME`, once or more, limits the answer: 404 when this process does not own one of them. */
  async #metrics({ asked, rest, query }: Request): Promise<Answer> {
    if (rest !== undefined) return refusal(unknownPath());
    const names = query.getAll('cluster');
    const foreign = names.find((name) => this.#find(name)?.isOwned !== true);
    if (foreign !== undefined) return refusal(notFound(clusterResource, foreign));
    const headers = { 'content-type': metricsType };
    if (asked.method === 'HEAD') return { status: 200, headers, body: undefined };
    const body = await this.#options.scraper.scrape(names.length === 0 ? undefined : new Set(names));
    return { status: 200, headers, body };
  }

  #find(name: string): ClusterRow | undefined {
    for (const row of this.#options.rows()) if (row.cluster.name === name) return row;
    return undefined;
  }
}

const unknownPath = (): StatusError => new StatusError('NotFound', 'the server could not find the requested resource');

/** Undefined if it cannot be decoded: no cluster has such a name. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns JSON unless `Accept` prefers text. */
function prefersText(accept = ''): boolean {
  const types = accept.split(',').map((type) => type.split(';', 1)[0]!.trim().toLowerCase());
  const text = types.indexOf('text/plain');
  const json = types.indexOf('application/json');
  return text !== -1 && (json === -1 || text < json);
}
