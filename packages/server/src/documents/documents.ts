/** Endpoints besides objects: version, health, metrics, discovery and OpenAPI. */

import type { Aggregator } from '../aggregation/aggregator.ts';
import type { Auditor } from '../audit/auditor.ts';
import { issuerDocument, issuerPaths } from '../auth/service-accounts/documents.ts';
import type { ServiceAccounts } from '../auth/service-accounts/service-accounts.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { bytesAnswer } from '../objects/answers.ts';
import { PageNotFound } from '../objects/page-not-found.ts';
import { healthPaths } from '../request/public-paths.ts';
import { unknownPath } from '../resources/unknown.ts';
import { Discovery } from './discovery.ts';
import { healthAnswer } from './health.ts';
import type { HealthChecks } from './health.ts';
import { OpenApi } from './open-api.ts';
import { buildInfo, versionInfo } from './version.ts';

export interface DocumentsOptions {
  readonly plane: ControlPlane;
  /** Issues tokens; absent: none are issued. Authenticators verify them. */
  readonly serviceAccounts?: ServiceAccounts;
  readonly health: HealthChecks;
  /** Aggregated servers behind this one; absent: none. */
  readonly aggregator?: Aggregator;
  /** Absent: nothing is audited. */
  readonly auditor?: Auditor;
  /** Additional metrics, in the Prometheus text format. */
  readonly metrics?: () => string;
  /** Other tenants share the process, so its metrics are omitted here. */
  readonly isProcessShared?: boolean;
  /** Host and port for clients. */
  readonly address: () => string;
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #discovery: Discovery;
  readonly #openApi: OpenApi;

  constructor(options: DocumentsOptions) {
    this.#options = options;
    const { plane, address, aggregator: remote } = options;
    const { catalogue, collections, clock } = plane;
    this.#discovery = new Discovery({ catalogue, budget: collections.budget, address, remote });
    this.#openApi = new OpenApi({ catalogue, budget: collections.budget, clock, remote });
  }

  async answer(request: ServerRequest, path: string, query: string): Promise<Answer> {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new PageNotFound();
    if (path === '/version') return json(versionInfo);
    if (path === '/metrics') return bytesAnswer(200, metricsType, Buffer.from(this.#metricsText()));
    if (healthPaths.test(path)) return healthAnswer(path, query, this.#options.health);
    const found = this.#discovery.answer(path, request) ?? (await this.#openApi.answer(path, query, request));
    if (found) return found;
    const { serviceAccounts, address } = this.#options;
    const issuer =
      serviceAccounts && issuerDocument({ path, accept: request.header('accept') }, serviceAccounts, address());
    if (issuer) return issuer;
    if (path === '/') return json({ paths: this.#paths() });
    throw unknownPath(path);
  }

  #metricsText(): string {
    const { plane, metrics, aggregator, isProcessShared } = this.#options;
    const additional = plane.metrics.clients.addTo(metrics?.() ?? '');
    const all = [plane.metrics.text(), buildInfo, this.#auditText(), additional, aggregator?.metrics()];
    const texts = [...all, isProcessShared ? '' : processMetrics()].filter((text) => text !== undefined && text !== '');
    return `${texts.join('\n')}\n`;
  }

  #auditText(): string {
    const name = 'apiserver_audit_event_total';
    return `# HELP ${name} Number of audit events.\n# TYPE ${name} counter\n${name} ${this.#options.auditor?.eventCount ?? 0}`;
  }

  #paths(): string[] {
    const groups = this.#options.plane.catalogue.groups;
    const named = groups.filter(({ name }) => name !== '');
    const own = named.flatMap(({ name, versions: all }) => [
      `/apis/${name}`,
      ...all.map((one) => `/apis/${name}/${one.name}`),
    ]);
    const remote = (this.#options.aggregator?.versions ?? []).flatMap(({ group, version }) =>
      group === '' ? [] : [`/apis/${group}`, `/apis/${group}/${version}`],
    );
    const versions = [...new Set([...own, ...remote])];
    const others = ['/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
    const issuer = this.#options.serviceAccounts ? issuerPaths(this.#options.serviceAccounts) : [];
    return [...issuer, '/api', '/api/v1', '/apis', ...versions.sort(), ...others].sort();
  }
}

const json = (value: object): Answer =>
  bytesAnswer(200, 'application/json', Buffer.from(JSON.stringify(value, undefined, 2)));
