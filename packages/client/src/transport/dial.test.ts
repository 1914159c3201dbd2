import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { test } from 'node:test';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { systemRandom } from '@hangar/core';
import { testAuthority } from '@hangar/testkit';
import type { ClusterConfig } from '../config/cluster-config.ts';
import {
  authority,
  get,
  http1Server,
  listening,
  plainServer,
  serving,
  tcpServer,
  transportTo,
} from './testing/servers.ts';

const certificateOf = ({ socket }: IncomingMessage): PeerCertificate => (socket as TLSSocket).getPeerCertificate();

const refuses = (config: ClusterConfig, message: RegExp, context: Parameters<typeof transportTo>[0]): Promise<void> =>
  assert.rejects(transportTo(context, config).request(get), { code: 'ConnectionFailed', message });

test('a certificate that is not to be believed says why', async (context) => {
  const { config, port } = await http1Server(context, (_request, response) => response.end());
  await refuses({ ...config, ca: testAuthority('others').certificate }, /x509: certificate signed by unknown/, context);
  await refuses({ server: config.server }, /x509: certificate signed by unknown/, context);
  await refuses(
    { ...config, serverName: 'elsewhere.example' },
    /x509: certificate is valid for other names.*localhost/s,
    context,
  );
  const insecure = transportTo(context, { server: `https://127.0.0.1:${port}`, isInsecure: true });
  assert.equal((await insecure.request(get)).status, 200);
  const named = transportTo(context, { ...config, serverName: 'localhost' });
  assert.equal((await named.request(get)).status, 200);
});

test('a client certificate is shown, and one that is missing or cannot be read says so', async (context) => {
  const seen: string[] = [];
  const options = { key: serving.key, cert: serving.certificate, ca: authority.certificate, requestCert: true };
  const server = createHttps(options, (request, response) => {
    seen.push(certificateOf(request).subject?.CN as string);
    response.end();
  });
  const { config } = await listening(context, server, 'https');
  const pair = authority.client('jane');
  const credentials = { headers: () => ({}), clientCertificate: () => Promise.resolve(pair) };
  await (await transportTo(context, { ...config, credentials }).request(get)).body();
  assert.deepEqual(seen, ['jane']);
  const broken = { ...credentials, clientCertificate: () => Promise.resolve({ certificate: 'none', key: 'none' }) };
  const asked = transportTo(context, { ...config, credentials: broken }).request(get);
  await assert.rejects(asked, { code: 'CredentialsFailed' });
  const failing = { ...credentials, clientCertificate: () => Promise.reject(new Error('no plugin')) };
  await assert.rejects(transportTo(context, { ...config, credentials: failing }).request(get), /no plugin/);
});

test('after renewed credentials a new certificate is shown on a new connection', async (context) => {
  const server = createHttps(
    { key: serving.key, cert: serving.certificate, ca: authority.certificate, requestCert: true },
    (request, response) => {
      const { subject } = certificateOf(request);
      response.writeHead(subject.CN === 'new' ? 200 : 401).end();
    },
  );
  const { config } = await listening(context, server, 'https');
  let pair = authority.client('old');
  const credentials = {
    headers: () => ({}),
    clientCertificate: () => Promise.resolve(pair),
    refresh() {
      pair = authority.client('new');
      return Promise.resolve(true);
    },
  };
  assert.equal((await transportTo(context, { ...config, credentials }).request(get)).status, 200);
});

test('where there is nobody, no TLS or no end of the handshake, that is said', async (context) => {
  await refuses(
    { server: 'https://127.0.0.1:1' },
    /https:\/\/127.0.0.1:1 cannot be reached: connection refused/,
    context,
  );
  const plain = await plainServer(context, (_request, response) => response.end());
  await refuses({ server: `https://127.0.0.1:${plain.port}` }, /does not speak TLS/, context);
  const ending = await tcpServer(context, (socket) => socket.end());
  await refuses(ending.config, /cannot be reached/, context);
  await refuses({ server: `https://${'x'.repeat(10)}.invalid` }, /no such host|failure in name resolution/, context);
});

test('connecting ends after its time, and everything that was half made with it', async (context) => {
  const { config, sockets } = await tcpServer(context, (socket) => void socket.resume());
  const transport = transportTo(context, config, { connectTimeoutMs: 100 });
  await assert.rejects(transport.request(get), { code: 'ConnectionFailed', message: /within 100 ms/ });
  await new Promise<void>((resolve) => (sockets[0]!.closed ? resolve() : sockets[0]!.once('close', () => resolve())));
});

test('a server that cannot be an address is InvalidKubeconfig', (context) => {
  for (const server of ['ftp://example.com', 'https://', `https://[${systemRandom.below(9)}`]) {
    assert.throws(() => transportTo(context, { server }), { code: 'InvalidKubeconfig' }, server);
  }
  for (const server of ['ftp://user:hunter2@example.com', 'https://user:hunter2@a b', 'user:hunter2@[']) {
    const isSilent = (error: Error) => !error.message.includes('hunter2') && !String(error.cause).includes('hunter2');
    assert.throws(() => transportTo(context, { server }), isSilent, server);
  }
});
