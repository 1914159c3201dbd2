/** `/openapi/v2` and `/openapi/v3`. Nothing is built, or even loaded, before somebody asks. */

import { etagOf } from '@hangar/api';
import type { OpenApiV3Source, openApiV2, openApiV2Protobuf } from '@hangar/api/openapi';
import type { Answer, ServerRequest } from '../http/message.ts';
import { bytesAnswer } from '../objects/answers.ts';
import type { Catalogue } from '../resources/catalogue.ts';

interface Builders {
  readonly openApiV2: typeof openApiV2;
  readonly openApiV2Protobuf: typeof openApiV2Protobuf;
}

export class OpenApi {
  readonly #catalogue: Catalogue;
  #generation = -1;
  #sources: ReadonlyMap<string, OpenApiV3Source> = new Map();
  #v2: { json: Buffer; protobuf?: Buffer; etag: string } | undefined;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** Undefined when the path is none of OpenAPI's. */
  async answer(path: string, query: string, request: ServerRequest): Promise<Answer | undefined> {
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return undefined;
    const builders = await import('@hangar/api/openapi');
    if (this.#generation !== this.#catalogue.generation) {
      this.#sources = builders.openApiV3Sources(this.#catalogue.groups);
      this.#v2 = undefined;
      this.#generation = this.#catalogue.generation;
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

  #v2Answer(builders: Builders, request: ServerRequest): Answer {
    if (!this.#v2) {
      const json = Buffer.from(JSON.stringify(builders.openApiV2(this.#catalogue.groups)));
      this.#v2 = { json, etag: etagOf(json) };
    }
    const { json, etag } = this.#v2;
    const accept = request.header('accept') ?? '';
    const isProtobuf = /proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(accept);
    const headers = {
      'content-type': isProtobuf ? 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' : 'application/json',
      etag,
      vary: 'Accept',
    };
    if (request.header('if-none-match') === etag) return { status: 304, headers, body: [] };
    if (!isProtobuf) return { status: 200, headers, body: json };
    this.#v2.protobuf ??= builders.openApiV2Protobuf(JSON.parse(json.toString()));
    return { status: 200, headers, body: this.#v2.protobuf };
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
