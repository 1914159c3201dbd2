/**
 * Discovery and OpenAPI of one group-version of an aggregated server. Fetched in the background and kept, so that no client waits for it
 * and the documents of an unavailable server remain, marked as stale.
 */

import { aggregatedMediaType, etagOf, isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { discoveryPath } from './api-service.ts';
import type { RemoteService } from './api-service.ts';
import { aggregatorUser, within } from './availability.ts';
import { checkedResource, discoveredResources, objectsOf, resourcesMax } from './discovered.ts';
import { identityHeaders } from './headers.ts';
import { askRemote } from './remote-server.ts';
import type { RemoteServer } from './remote-server.ts';

const timeoutMs = 5_000;
/** Limit of one document. For the limit of all documents of a control plane, see `Outbound.documents`. */
const documentBytesMax = 4 * 1024 * 1024;

export interface OpenApiV3Document {
  readonly hash: string;
  readonly bytes: Buffer;
}

interface Fetched {
  readonly etag: string | undefined;
  readonly bytes: Buffer;
}

export class RemoteDocuments {
  readonly #server: RemoteServer;
  readonly #remote: RemoteService;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #fetched = new Map<string, Fetched>();
  #held = 0;
  /** In the form of aggregated discovery; empty if the server never answered. */
  resources: readonly JsonObject[] = [];
  /** Reports whether the documents are up to date. */
  isFresh = false;
  openApiV3: OpenApiV3Document | undefined;
  /** The whole document of the server, of which only the paths of this group-version are used. */
  openApiV2: Buffer | undefined;

  constructor(server: RemoteServer, remote: RemoteService, clock: Clock, onChange: () => void) {
    this.#server = server;
    this.#remote = remote;
    this.#clock = clock;
    this.#onChange = onChange;
  }

  markStale(): void {
    if (!this.isFresh) return;
    this.isFresh = false;
    this.#onChange();
  }

  /** Never rejects: on failure the document is kept and marked as stale. */
  async refreshDiscovery(): Promise<void> {
    const found = await this.#discovery().catch(() => undefined);
    const isOther = found !== undefined && JSON.stringify(found) !== JSON.stringify(this.resources);
    if (!isOther && this.isFresh === (found !== undefined)) return;
    if (isOther) this.resources = found;
    this.isFresh = found !== undefined;
    this.#onChange();
  }

  /** Never rejects: on failure the documents are kept. */
  async refreshOpenApi(): Promise<void> {
    const v3 = await this.#v3().catch(() => this.openApiV3);
    const v2 = (await this.#fetch('/openapi/v2', 'application/json').catch(() => undefined)) ?? this.openApiV2;
    if (v3 === this.openApiV3 && v2 === this.openApiV2) return;
    [this.openApiV3, this.openApiV2] = [v3, v2];
    this.#onChange();
  }

  /** Returns undefined if the server does not serve it. Rejects if the server is unreachable. */
  async #discovery(): Promise<readonly JsonObject[] | undefined> {
    const { group, version } = this.#remote;
    const root = group === '' ? '/api' : '/apis';
    const whole = parsed(await this.#fetch(root, aggregatedMediaType));
    if (whole?.['kind'] === 'APIGroupDiscoveryList') {
      const groups = objectsOf(whole['items']);
      const found = groups.find(({ metadata }) => ((isObject(metadata) && metadata['name']) || '') === group);
      const served = objectsOf(found?.['versions']).find((one) => one['version'] === version);
      return objectsOf(served?.['resources']).slice(0, resourcesMax).map(checkedResource);
    }
    const list = parsed(await this.#fetch(discoveryPath(this.#remote), 'application/json'));
    return list?.['kind'] === 'APIResourceList' ? discoveredResources(list) : undefined;
  }

  async #v3(): Promise<OpenApiV3Document | undefined> {
    const path = discoveryPath(this.#remote).slice(1);
    const root = parsed(await this.#fetch('/openapi/v3', 'application/json'));
    const paths = root?.['paths'];
    const entry = isObject(paths) && Object.hasOwn(paths, path) ? paths[path] : undefined;
    if (!isObject(entry)) return undefined;
    const url = String(entry['serverRelativeURL'] ?? '');
    // Other locations are not followed: the URL comes from the remote server.
    if (!url.startsWith(`/openapi/v3/${path}`)) return undefined;
    const hash = new URLSearchParams(url.split('?')[1] ?? '').get('hash') ?? '';
    if (hash !== '' && hash === this.openApiV3?.hash) return this.openApiV3;
    const bytes = await this.#fetch(url, 'application/json');
    if (!bytes || !parsed(bytes)) return undefined;
    this.#fetched.delete(url);
    this.#hold(-(this.openApiV3?.bytes.length ?? 0));
    return { hash: hash || etagOf(bytes).replaceAll('"', ''), bytes };
  }

  /** Returns undefined if the document does not exist. Uses conditional requests. */
  async #fetch(target: string, accept: string): Promise<Buffer | undefined> {
    const known = this.#fetched.get(target);
    const headers = {
      accept: accept === 'application/json' ? accept : `${accept},application/json`,
      ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
      ...identityHeaders(aggregatorUser),
    };
    const { status, ...answer } = await within(this.#clock, timeoutMs, (signal) =>
      askRemote(this.#server, { method: 'GET', target, headers }, { bytesMax: documentBytesMax, signal }),
    );
    if (status === 304 && known) return known.bytes;
    if (status === 503) throw new Error(`${target} answered ${status}`);
    if (status !== 200) return undefined;
    const bytes = known && known.bytes.equals(answer.body) ? known.bytes : answer.body;
    if (!known || bytes !== known.bytes) this.#hold(bytes.length - (known?.bytes.length ?? 0));
    this.#fetched.set(target, { etag: answer.headers.etag, bytes });
    return bytes;
  }

  /** Charges the budget for as long as the APIService exists. Throws if the control plane exceeds its budget. */
  #hold(bytes: number): void {
    const { documents } = this.#server;
    if (bytes > 0) documents.take(bytes);
    else documents.give(-bytes);
    this.#held += bytes;
  }

  close(): void {
    this.#server.documents.give(this.#held);
    this.#held = 0;
  }
}

function parsed(bytes: Buffer | undefined): JsonObject | undefined {
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
