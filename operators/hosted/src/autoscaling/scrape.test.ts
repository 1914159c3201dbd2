import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { scrapeOverTls } from './scrape.ts';

const world = { clock: systemClock, random: systemRandom };
const serverName = 'apiserver-demo.team.svc';
const text = 'apiserver_current_inflight_requests{request_kind="readOnly"} 3\nprocess_cpu_seconds_total 1\n';

describe('a scrape', () => {
  const authority = createAuthority('kubernetes', 1, world);
  const credentials = issueCertificate(
    authority,
    { commonName: 'reader', organizations: ['system:monitoring'], usage: 'client', days: 1 },
    world,
  );
  const sockets = new Set<Socket>();
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let port = 0;
  const { certificate: cert, key } = issueCertificate(
    authority,
    { commonName: 'kube-apiserver', usage: 'server', hosts: [serverName], days: 1 },
    world,
  );
  const server = createServer({ cert, key, ca: authority.certificate, requestCert: true }, (request, response) =>
    respond(request, response),
  );
  server.on('connection', (socket: Socket) => sockets.add(socket));
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const scrape = (change: object = {}, signal = new AbortController().signal) =>
    scrapeOverTls(systemClock)(
      { host: '127.0.0.1', port, serverName, authority: authority.certificate, credentials, ...change },
      signal,
    );

  test('reads the metrics as the user of its certificate', async () => {
    let seen: unknown;
    respond = (request, response) => {
      const { authorized } = request.socket as TLSSocket;
      seen = [request.url, authorized, (request.socket as TLSSocket).getPeerCertificate().subject.CN];
      response.end(text);
    };
    assert.deepEqual(await scrape(), { inFlight: 3, cpuSeconds: 1, buckets: new Map() });
    assert.deepEqual(seen, ['/metrics', true, 'reader']);
  });

  test('is rejected by another status, with the status', async () => {
    respond = (_, response) => void response.writeHead(403).end('forbidden');
    await assert.rejects(scrape(), /GET \/metrics returned status 403/);
  });

  test('is rejected for a server of another authority, or with another name', async () => {
    respond = (_, response) => void response.end(text);
    const other = createAuthority('other', 1, world);
    await assert.rejects(scrape({ authority: other.certificate }));
    await assert.rejects(scrape({ serverName: 'apiserver-other.team.svc' }));
  });

  test('is rejected for a text that is not metrics, and for a truncated one', async () => {
    respond = (_, response) => void response.end('x'.repeat(100_000));
    await assert.rejects(scrape(), /longer than/);
    respond = (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write(text, () => response.destroy());
    };
    await assert.rejects(scrape());
  });

  test('ends with its signal while the server does not respond', async () => {
    const ending = new AbortController();
    respond = () => ending.abort();
    await assert.rejects(scrape({}, ending.signal), { code: 'Aborted' });
  });
});
