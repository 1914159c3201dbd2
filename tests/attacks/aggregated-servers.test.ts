/**
 * An aggregated server that its tenant wrote to attack others. It sees the requests to its group, and its answers come from the same origin
 * as those of all other tenants and the console: it must not get credentials, and no browser may run its answers.
 */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Canary } from './testing/canary.ts';
import type { Data, Received } from './testing/client.ts';
import { mine, nobodyToken, tenantToken, Victim } from './testing/victim.ts';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const api = '/apis/evil.example.com/v1';
const things = `${api}/namespaces/mine/things`;

let victim: Victim;
let server: Canary;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let seen: IncomingMessage | undefined;

before(async () => {
  server = await Canary.start((request, response) => {
    if (request.url === api) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: api, resources: [] }));
    } else if (request.url?.startsWith(things)) {
      seen = request;
      answer(request, response);
    } else response.writeHead(404).end();
  });
  server.onUpgrade((request, socket) => {
    seen = request;
    upgrade(socket);
  });
  victim = await Victim.start({ flags: () => ['--outbound-allow-cidr=127.0.0.0/8', '--outbound-allow-cidr=::1'] });
  const { administrator } = victim;
  await administrator.create(`${mine}/services`, {
    metadata: { name: 'evil' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await administrator.create(apiServices, {
    metadata: { name: 'v1.evil.example.com' },
    spec: {
      group: 'evil.example.com',
      version: 'v1',
      service: { namespace: 'mine', name: 'evil', port: server.port },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
  await victim.grant('tenant', [{ verbs: ['*'], apiGroups: ['evil.example.com'], resources: ['*'] }]);
  const isAvailable = async (): Promise<boolean> => {
    const { status } = await administrator.get(`${apiServices}/v1.evil.example.com`);
    return status?.conditions?.some(({ type, status: is }: Data) => type === 'Available' && is === 'True');
  };
  while (!(await isAvailable())) await new Promise((resolve) => setTimeout(resolve, 20));
});
after(async () => {
  await victim[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  seen = undefined;
  answer = (_request, response) => response.setHeader('content-type', 'application/json').end('{}');
});

let upgrade: (socket: Duplex) => void = (socket) => socket.destroy();

const answersWith = (headers: string[], status = 200, body = '<script>alert(1)</script>'): void => {
  answer = (_request, response) => response.writeHead(status, headers).end(body);
};
const both = (path = things): Promise<Received[]> =>
  Promise.all([victim.tenant.request('GET', path), victim.tenant.request2('GET', path)]);

describe('an answer cannot act in a browser', () => {
  const executable = [
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'text/javascript',
    'application/javascript',
    'application/wasm',
    'text/css',
    'application/pdf',
    'multipart/x-mixed-replace; boundary=x',
    'text/cache-manifest',
    'application/json, text/html',
    'text/plain,text/html',
    'text/plain;charset="x,text/html',
    'nonsense',
    '',
  ];
  for (const type of executable) {
    test(`as ${JSON.stringify(type)}`, async () => {
      answersWith(['content-type', type]);
      for (const { status, headers, text } of await both()) {
        assert.deepEqual([status, text], [200, '<script>alert(1)</script>']);
        assert.equal(headers['content-disposition'], 'attachment');
        assert.equal(headers['x-content-type-options'], 'nosniff');
        assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox");
      }
    });
  }

  test('with two types, none, or a disposition and a policy of its own', async () => {
    for (const headers of [
      ['content-type', 'text/plain', 'content-type', 'text/html'],
      [],
      ['content-type', 'text/html', 'content-disposition', 'inline', 'content-security-policy', 'default-src *'],
    ]) {
      answersWith(headers);
      for (const received of await both()) {
        assert.equal(received.headers['content-disposition'], 'attachment', JSON.stringify(headers));
        assert.equal(received.headers['content-security-policy'], "default-src 'none'; sandbox");
      }
    }
  });

  test('by headers that count for the whole origin', async () => {
    const harmful = {
      'set-cookie': 'session=evil; Path=/; Domain=example.com',
      'alt-svc': 'h3="evil.example.com:443"; ma=31536000',
      'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      'www-authenticate': 'Basic realm="Sign in"',
      'proxy-authenticate': 'Basic',
      'service-worker-allowed': '/',
      'clear-site-data': '"*"',
      'public-key-pins': 'pin-sha256="x"; max-age=1000',
      'expect-ct': 'max-age=1, enforce',
      nel: '{"report_to":"x","max_age":1}',
      'report-to': '{"endpoints":[{"url":"https://evil.example.com"}]}',
      'reporting-endpoints': 'x="https://evil.example.com"',
      refresh: '0; url=https://evil.example.com',
      link: '</x>; rel=preload',
      location: '/clusters/blue/control-plane',
      'content-location': '/clusters/blue/control-plane',
      'x-accel-redirect': '/internal',
      'x-sendfile': '/etc/passwd',
      'x-frame-options': 'ALLOWALL',
      'origin-agent-cluster': '?0',
      'permissions-policy': 'camera=*',
      'referrer-policy': 'unsafe-url',
      'source-map': '/x',
      server: 'evil',
      'x-anything': 'else',
    };
    for (const status of [200, 201, 401, 407, 500]) {
      answersWith([...Object.entries(harmful).flat(), 'content-type', 'application/json'], status, '{}');
      for (const received of await both()) {
        assert.equal(received.status, status);
        for (const name of Object.keys(harmful)) assert.equal(received.headers[name], undefined, `${status} ${name}`);
      }
    }
  });

  test('by a redirect, wherever it leads', async () => {
    for (const location of [
      'https://evil.example.com/',
      '/clusters/blue/control-plane/api',
      '//evil',
      'x',
      'javascript:x',
    ]) {
      for (const status of [301, 302, 303, 307, 308]) {
        answersWith(['location', location], status, '');
        const { status: got, headers } = await victim.tenant.request('GET', things);
        assert.deepEqual([got, headers['location']], [502, undefined], location);
      }
    }
  });

  test('by trailers, or by headers that it lists as those of the connection', async () => {
    answer = (_request, response) => {
      const listed = ['trailer', 'set-cookie', 'connection', 'close, x-kubernetes-evil', 'x-kubernetes-evil', '1'];
      response.writeHead(200, ['content-type', 'application/json', ...listed]);
      response.write('{}');
      response.addTrailers({ 'set-cookie': 'a=b' });
      response.end();
    };
    const bytes = `GET ${things} HTTP/1.1\r\nHost: a\r\n${victim.tenant.credentials}TE: trailers\r\nConnection: close\r\n\r\n`;
    const text = await victim.tenant.raw(bytes);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(text, /set-cookie|x-kubernetes-evil|trailer/i);
  });

  test('by the answer that switches the protocol', async () => {
    upgrade = (socket) => {
      socket.end(
        'HTTP/1.1 101 <script>\r\nConnection: Upgrade, X-Own\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n' +
          'Set-Cookie: a=b\r\nAlt-Svc: clear\r\nStrict-Transport-Security: max-age=1\r\nX-Own: yes\r\n\r\nhello',
      );
    };
    const text = await victim.tenant.raw(handshake(), { until: (got) => got.endsWith('hello') });
    assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    assert.match(text, /Upgrade: websocket\r\n[^]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
    assert.doesNotMatch(text, /set-cookie|alt-svc|strict|x-own|script/i);
  });
});

const handshake = (...more: string[]): string =>
  [
    `GET ${things} HTTP/1.1`,
    'Host: a',
    victim.tenant.credentials.trim(),
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    ...more,
    '',
    '',
  ].join('\r\n');

test('what Kubernetes clients need of an answer stays', async () => {
  const types = [
    'application/json',
    'application/json;stream=watch',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/vnd.kubernetes.protobuf;stream=watch',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    'text/plain; charset=utf-8',
    'application/openmetrics-text; version=1.0.0',
  ];
  for (const type of types) {
    const kept = {
      'content-type': type,
      etag: '"1"',
      'cache-control': 'no-cache, private',
      'last-modified': 'Tue, 17 Nov 2026 00:00:00 GMT',
      'retry-after': '1',
      vary: 'Accept',
      warning: '299 - "deprecated"',
      'audit-id': '1',
      'x-kubernetes-own': '2',
    };
    answersWith(Object.entries(kept).flat(), 200, 'body');
    for (const { headers, text } of await both()) {
      assert.equal(text, 'body');
      for (const [name, value] of Object.entries(kept)) assert.equal(headers[name], value, name);
      assert.equal(headers['content-disposition'], undefined, type);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  }
});

describe('a request takes no credential of the client along', () => {
  const secret = 'k33p-this-1nside';
  const carried = {
    cookie: `session=${secret}`,
    'proxy-authorization': `Basic ${secret}`,
    'x-auth-token': secret,
    'x-api-key': secret,
    'x-forwarded-access-token': secret,
    'x-amz-security-token': secret,
    'cf-access-jwt-assertion': secret,
    'x-remote-extra-token': secret,
    impersonate_extra_token: secret,
    referer: `https://a/?token=${secret}`,
    origin: `https://${secret}.example.com`,
    'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${secret}, v4.channel.k8s.io`,
  };
  const query = `?access_token=${secret}&limit=5&ID_TOKEN=${secret}&access%5Ftoken=${secret}&authorization=${secret}&watch=0`;

  const checked = (): IncomingMessage => {
    assert.ok(seen, 'the request was not handed on');
    const text = `${seen.url} ${JSON.stringify(seen.rawHeaders)}`;
    for (const one of [secret, tenantToken, nobodyToken]) assert.ok(!text.includes(one), text);
    assert.equal(seen.url, `${things}?limit=5&watch=0`);
    assert.equal(seen.headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
    assert.equal(seen.headers['x-remote-user'], 'tenant');
    return seen;
  };

  test('over HTTP/1.1 and HTTP/2', async () => {
    const headers = { ...carried, 'kubectl-command': 'kubectl get', traceparent: '00-1-2-00', 'if-none-match': '"1"' };
    for (const ask of ['request', 'request2'] as const) {
      seen = undefined;
      const { status, text } = await victim.tenant[ask]('GET', `${things}${query}`, { headers });
      assert.equal(status, 200, text);
      const { headers: got } = checked();
      for (const name of ['kubectl-command', 'traceparent', 'if-none-match', 'accept'] as const) {
        assert.ok(got[name], name);
      }
    }
  });

  test('when the connection becomes a WebSocket', async () => {
    upgrade = (socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
    const lines = Object.entries(carried).map(([name, value]) => `${name}: ${value}`);
    const bytes = handshake(...lines).replace(`GET ${things} `, `GET ${things}${query} `);
    await victim.tenant.raw(bytes, { until: (got) => got.endsWith('hello') });
    assert.equal(checked().headers['sec-websocket-key'], 'dGhlIHNhbXBsZSBub25jZQ==');
  });

  test('a connection does not become another HTTP, on which the client could name any user', async () => {
    for (const protocol of ['h2c', 'HTTP/2.0', 'websocket, h2c', 'TLS/1.0']) {
      seen = undefined;
      const bytes = handshake().replace('Upgrade: websocket', `Upgrade: ${protocol}`);
      const text = await victim.tenant.raw(bytes, { until: (got) => got.includes('\r\n\r\n') });
      assert.match(text, /^HTTP\/1\.1 200 /, protocol);
      assert.equal((seen as IncomingMessage | undefined)?.headers.upgrade, undefined, protocol);
    }
  });
});
