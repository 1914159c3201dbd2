/** `/openapi/v2` and `/openapi/v3`. Documents are built, and the modules for them loaded, on the first request. */

import type { JsonObject, ServedGroup } from '@hangar/api';
import type * as openApi from '@hangar/api/openapi';
import type { OpenApiV3Source, V2Format } from '@hangar/api/openapi';
import type { Clock } from '@hangar/core';
import { mergedOpenApiV2 } from '../aggregation/merged-open-api.ts';
import type { RemoteOpenApi } from '../aggregation/merged-open-api.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { bytesAnswer } from '../objects/answers.ts';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { Catalogue } from '../resources/catalogue.ts';
import { Newest, SharedVersions } from './newest.ts';
import { OpenApiV2 } from './open-api-v2.ts';
import { ServedDocuments } from './served-documents.ts';
import type { ServedDocument } from './served-documents.ts';

/** The last known documents of other servers. */
export interface RemoteOpenApis {
  readonly generation: number;
  /** Keyed by path: `apis/notes.example.com/v1`. */
  readonly v3: ReadonlyMap<string, { readonly hash: string; readonly bytes: Buffer }>;
  readonly v2: readonly RemoteOpenApi[];
}

const nothingElse: RemoteOpenApis = { generation: 0, v3: new Map(), v2: [] };

type Builders = typeof openApi;

type Sources = ReadonlyMap<string, OpenApiV3Source>;

/** Shared by control planes with the same groups, which are then the same object. */
const sourcesOf = new WeakMap<readonly ServedGroup[], Sources>();

/** Documents of v3 by their hash, which covers all inputs. */
const v3Versions = new SharedVersions<Buffer>();
const bytesOf = ({ length }: Buffer): number => length;

export interface OpenApiOptions {
  readonly catalogue: Catalogue;
  readonly budget: CacheBudget;
  readonly clock: Clock;
  readonly remote?: RemoteOpenApis | undefined;
}

export class OpenApi {
  readonly #catalogue: Catalogue;
  readonly #remote: RemoteOpenApis;
  readonly #documents: ServedDocuments;
  readonly #v2: OpenApiV2;
  readonly #v3: Newest<Buffer>;

  constructor({ catalogue, budget, clock, remote = nothingElse }: OpenApiOptions) {
    this.#catalogue = catalogue;
    this.#v2 = new OpenApiV2({ catalogue, budget, clock });
    this.#v3 = new Newest(v3Versions, { budget, bytesOf });
    this.#remote = remote;
    this.#documents = new ServedDocuments({ catalogue, budget, others: remote });
  }

  /** Returns undefined if the path is not an OpenAPI path. */
  async answer(path: string, query: string, request: ServerRequest): Promise<Answer | undefined> {
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return undefined;
    const builders = await import('@hangar/api/openapi');
    if (path === '/openapi/v2') return this.#v2Answer(builders, request);
    const sources = this.#sources(builders);
    if (path === '/openapi/v3') {
      const { bytes } = this.#documents.get(path, this.#remote.v3.size > 0, () =>
        Buffer.from(JSON.stringify(builders.openApiV3Root(sources))),
      );
      return bytesAnswer(200, 'text/plain; charset=utf-8', bytes);
    }
    const source = sources.get(path.slice('/openapi/v3/'.length));
    return source && v3Answer(source, query, request, () => this.#v3Bytes(source));
  }

  /** Documents of other servers are not shared: their hashes cannot be trusted. */
  #v3Bytes({ path, hash, build }: OpenApiV3Source): Buffer {
    return this.#remote.v3.has(path) ? build() : this.#v3.get(path, hash, build);
  }

  #sources(builders: Builders): Sources {
    const { groups } = this.#catalogue;
    let own = sourcesOf.get(groups);
    if (!own) sourcesOf.set(groups, (own = builders.openApiV3Sources(groups)));
    if (this.#v3.size > own.size) this.#v3.retain(new Set(own.keys()));
    const { v3 } = this.#remote;
    if (v3.size === 0) return own;
    const remote = [...v3].map(([path, { hash, bytes }]) => [path, { path, hash, build: () => bytes }] as const);
    return new Map([...own, ...remote]);
  }

  async #v2Answer(builders: Builders, request: ServerRequest): Promise<Answer> {
    const accept = request.header('accept') ?? '';
    const isProtobuf = /proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(accept);
    const { bytes, etag } = await this.#v2Document(builders, isProtobuf ? 'protobuf' : 'json');
    const headers = {
      'content-type': isProtobuf ? 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' : 'application/json',
      etag,
      vary: 'Accept',
    };
    if (request.header('if-none-match') === etag) return { status: 304, headers, body: [] };
    return { status: 200, headers, body: bytes };
  }

  // One for each format: the ETags differ.
  #v2Document(builders: Builders, format: V2Format): Promise<ServedDocument> {
    const name = format === 'json' ? '/openapi/v2' : '/openapi/v2 protobuf';
    const isMerged = (): boolean => this.#remote.v2.length > 0;
    return this.#documents.built(name, isMerged, async () => {
      const { groups } = this.#catalogue;
      const { v2 } = this.#remote;
      if (v2.length === 0) {
        const joined = await this.#v2.joined(builders, format);
        if (joined) return joined;
      }
      const own = builders.openApiV2(groups);
      const json = Buffer.from(JSON.stringify(v2.length === 0 ? own : mergedOpenApiV2(own, v2)));
      return format === 'json' ? json : builders.openApiV2Protobuf(JSON.parse(json.toString()) as JsonObject);
    });
  }
}

/** A document is identified by its hash: with the current hash it may be cached forever, with an old one the client is redirected. */
function v3Answer(source: OpenApiV3Source, query: string, request: ServerRequest, bytes: () => Buffer): Answer {
  const etag = `"${source.hash}"`;
  const asked = new URLSearchParams(query).get('hash');
  if (asked !== null && asked !== '' && asked !== source.hash) {
    return { status: 301, headers: { location: `/openapi/v3/${source.path}?hash=${source.hash}` }, body: [] };
  }
  const headers: Record<string, string> = { 'content-type': 'application/json', etag, vary: 'Accept' };
  if (asked === source.hash) {
    headers['cache-control'] = 'public, immutable';
    headers['expires'] = new Date(Date.now() + 365 * 86_400_000).toUTCString();
  }
  if (request.header('if-none-match') === etag) return { status: 304, headers, body: [] };
  return { status: 200, headers, body: bytes() };
}
