/** `/openapi/v2` and `/openapi/v3`. Nothing is built, or even loaded, before somebody asks. */

import { etagOf } from '@hangar/api';
import type { OpenApiV3Source, openApiV2, openApiV2Protobuf } from '@hangar/api/openapi';
import { mergedOpenApiV2 } from '../aggregation/merged-open-api.ts';
import type { RemoteOpenApi } from '../aggregation/merged-open-api.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { bytesAnswer } from '../objects/answers.ts';
import type { Catalogue } from '../resources/catalogue.ts';

/** The documents of other servers, as they were last seen. */
export interface RemoteOpenApis {
  readonly generation: number;
  /** By path: `apis/notes.example.com/v1`. */
  readonly v3: ReadonlyMap<string, { readonly hash: string; readonly bytes: Buffer }>;
  readonly v2: readonly RemoteOpenApi[];
}

const nothingElse: RemoteOpenApis = { generation: 0, v3: new Map(), v2: [] };

interface Builders {
  readonly openApiV2: typeof openApiV2;
  readonly openApiV2Protobuf: typeof openApiV2Protobuf;
}

/** One for each format: who has the one does not have the other. */
interface Tagged {
  readonly bytes: Buffer;
  readonly etag: string;
}

const tagged = (bytes: Buffer): Tagged => ({ bytes, etag: etagOf(bytes) });

export class OpenApi {
  readonly #catalogue: Catalogue;
  readonly #remote: RemoteOpenApis;
  #generation = '';
  #sources: ReadonlyMap<string, OpenApiV3Source> = new Map();
  #v2: { readonly json: Tagged; protobuf?: Tagged } | undefined;

  constructor(catalogue: Catalogue, remote: RemoteOpenApis = nothingElse) {
    this.#catalogue = catalogue;
    this.#remote = remote;
  }

  /** Undefined when the path is none of OpenAPI's. */
  async answer(path: string, query: string, request: ServerRequest): Promise<Answer | undefined> {
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return undefined;
    const builders = await import('@hangar/api/openapi');
    const generation = `${this.#catalogue.generation} ${this.#remote.generation}`;
    if (this.#generation !== generation) {
      this.#sources = this.#allSources(builders.openApiV3Sources(this.#catalogue.groups));
      this.#v2 = undefined;
      this.#generation = generation;
    }
    if (path === '/openapi/v2') return this.#v2Answer(builders, request);
    if (path === '/openapi/v3') {
      return bytesAnswer(
        200,
        'text/plain; charset=utf-8',
        Buffer.from(JSON.stringify(builders.openApiV3Root(this.#sources))),
      );
    }
    const source = this.#sources.get(path.slice('/openapi/v3/'.length));
    return source && v3Answer(source, query, request);
  }

  #allSources(own: ReadonlyMap<string, OpenApiV3Source>): ReadonlyMap<string, OpenApiV3Source> {
    const { v3 } = this.#remote;
    if (v3.size === 0) return own;
    const remote = [...v3].map(([path, { hash, bytes }]) => [path, { path, hash, build: () => bytes }] as const);
    return new Map([...own, ...remote]);
  }

  #v2Answer(builders: Builders, request: ServerRequest): Answer {
    if (!this.#v2) {
      const own = builders.openApiV2(this.#catalogue.groups);
      const { v2 } = this.#remote;
      this.#v2 = { json: tagged(Buffer.from(JSON.stringify(v2.length === 0 ? own : mergedOpenApiV2(own, v2)))) };
    }
    const { json } = this.#v2;
    const accept = request.header('accept') ?? '';
    const isProtobuf = /proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(accept);
    if (isProtobuf) this.#v2.protobuf ??= tagged(builders.openApiV2Protobuf(JSON.parse(json.bytes.toString())));
    const { bytes, etag } = (isProtobuf && this.#v2.protobuf) || json;
    const headers = {
      'content-type': isProtobuf ? 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' : 'application/json',
      etag,
      vary: 'Accept',
    };
    if (request.header('if-none-match') === etag) return { status: 304, headers, body: [] };
    return { status: 200, headers, body: bytes };
  }
}

/** A document is named by its hash: with the right one it may be kept for ever, with an old one it has moved. */
function v3Answer(source: OpenApiV3Source, query: string, request: ServerRequest): Answer {
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
  return { status: 200, headers, body: source.build() };
}
