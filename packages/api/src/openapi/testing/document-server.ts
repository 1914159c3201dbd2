/** For tests: a server that serves only discovery and OpenAPI documents, for real clients. Loopback only. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  aggregatedDiscovery,
  aggregatedMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  etagOf,
} from '../../discovery/index.ts';
import type { ServedGroup } from '../../discovery/index.ts';
import type { JsonObject } from '../../object.ts';
import { openApiV2, openApiV2Protobuf, openApiV2ProtobufMediaType, openApiV3Root, openApiV3Sources } from '../index.ts';

export interface DocumentServer extends AsyncDisposable {
  readonly url: string;
  /** `GET /api` and so on, in order. */
  readonly requests: string[];
}

type Content = readonly [type: string, body: string | Buffer];

const json = (value: JsonObject): Content => ['application/json', JSON.stringify(value)];

/** `answer` handles all other requests. */
export async function serveDocuments(
  groups: readonly ServedGroup[],
  answer: (request: IncomingMessage, body: string) => JsonObject | undefined = () => undefined,
): Promise<DocumentServer> {
  const requests: string[] = [];
  const contentOf = (path: string, accept: string): Content | undefined =>
    discoveryContent(groups, path, accept) ?? openApiContent(groups, path, accept);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname } = new URL(request.url!, 'http://localhost');
    let content = request.method === 'GET' ? contentOf(pathname, request.headers.accept ?? '') : undefined;
    if (!content) {
      const other = answer(request, Buffer.concat(chunks).toString());
      content = other && json(other);
    }
    const [type, body] = content ?? json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 });
    response.writeHead(content ? 200 : 404, { 'content-type': type, etag: etagOf(body) }).end(body);
  };
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

function discoveryContent(groups: readonly ServedGroup[], path: string, accept: string): Content | undefined {
  if (path === '/api' || path === '/apis') {
    if (accept.includes('APIGroupDiscoveryList')) {
      return [aggregatedMediaType, JSON.stringify(aggregatedDiscovery(path, groups))];
    }
    return json(path === '/api' ? apiVersions(groups, '127.0.0.1') : apiGroupList(groups));
  }
  const [root, ...rest] = path.slice(1).split('/');
  if (root !== 'api' && root !== 'apis') return undefined;
  const [groupName, versionName, ...more] = root === 'api' ? ['', ...rest] : rest;
  const group = groups.find(({ name }) => name === groupName);
  const version = group?.versions.find(({ name }) => name === versionName);
  if (more.length > 0 || !group) return undefined;
  if (versionName === undefined) return json(apiGroup(group));
  return version && json(apiResourceList(group.name, version));
}

function openApiContent(groups: readonly ServedGroup[], path: string, accept: string): Content | undefined {
  if (path === '/openapi/v2') {
    const document = openApiV2(groups);
    return accept.includes('protobuf') ? [openApiV2ProtobufMediaType, openApiV2Protobuf(document)] : json(document);
  }
  const sources = openApiV3Sources(groups);
  if (path === '/openapi/v3') return json(openApiV3Root(sources));
  const source = sources.get(path.slice('/openapi/v3/'.length));
  return source && ['application/json', source.build()];
}
