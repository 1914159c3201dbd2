/** Server names over real TLS: selection of certificates, client authentication, and caching. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { describe, test } from 'node:test';
import { connect as connectTcp, createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { Handler } from './message.ts';
import { ServerNames } from './server-names.ts';
import { serving, showing, TestPort, world } from './testing/test-port.ts';

const users = createAuthority('users', 10, world);
const strangers = createAuthority('strangers', 10, world);
const named = (host: string): KeyPair =>
  issueCertificate(serving, { commonName: 'server', usage: 'server', hosts: [host], days: 5 }, world);
const client = (authority: KeyPair, commonName: string): KeyPair =>
  issueCertificate(authority, { commonName, usage: 'client', days: 5 }, world);

const handler: Handler = async (request) => {
  const { certificate, unverified, serverName } = request.peer;
  const body = [certificate?.commonName, unverified && 'unverified', serverName, request.header('host')];
  return { status: 200, headers: {}, body: Buffer.from(body.map((one) => one ?? '-').join(' ')) };
};

const tenant = 'a.example.com';
const openPort = (certificates: Map<string, KeyPair>, onError?: (error: Error) => void): Promise<TestPort> =>
  TestPort.open(handler, {
    clientCas: users.certificate,
    serverCertificate: (name) => certificates.get(name),
    ...(onError ? { onError } : {}),
  });

describe('a port with several names', () => {
  test('shows the certificate of the name that is asked for, and its own for every other', async () => {
    await using port = await openPort(new Map([[tenant, named(tenant)]]));
    const shown = async (servername: string) => (await port.ask({ servername, rejectUnauthorized: false })).shown;
    assert.equal(await shown(tenant), `DNS:${tenant}`);
    assert.equal(await shown('A.Example.com'), `DNS:${tenant}`);
    assert.match(await shown('localhost'), /localhost/);
    assert.match(await shown('b.example.com'), /localhost/);
    assert.match(await shown(''), /localhost/);
  });

  test('verifies clients alike under each of them, and says which one was asked for', async () => {
    await using port = await openPort(new Map([[tenant, named(tenant)]]));
    for (const servername of [tenant, 'localhost']) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const ask = async (pair?: KeyPair) =>
          (await port.ask({ servername, maxVersion, ...(pair ? showing(pair) : {}) })).body;
        assert.equal(await ask(client(users, 'jane')), `jane - ${servername} ${servername}`);
        assert.equal(await ask(client(strangers, 'jane')), `- unverified ${servername} ${servername}`);
        assert.equal(await ask(), `- - ${servername} ${servername}`);
      }
    }
  });

  test('resumes sessions without changing who the client is', async () => {
    await using port = await openPort(new Map([[tenant, named(tenant)]]));
    for (const servername of [tenant, 'localhost']) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        for (const [pair, who] of [
          [client(users, 'jane'), 'jane -'],
          [client(strangers, 'jane'), '- unverified'],
        ] as const) {
          const first = await port.ask({ servername, maxVersion, ...showing(pair) });
          const again = await port.ask({ servername, maxVersion, ...showing(pair), session: port.session });
          assert.ok(first.body.startsWith(who), first.body);
          assert.ok(again.body.startsWith(who), again.body);
          assert.ok(port.isReused, `${servername} was not resumed with ${maxVersion}`);
        }
      }
    }
  });

  test('keeps to its clients and names when its own certificate and CAs are replaced', async () => {
    const certificates = new Map([[tenant, named(tenant)]]);
    await using port = await openPort(certificates);
    const ask = () => port.ask({ servername: tenant, ...showing(client(strangers, 'jane')) });
    assert.match((await ask()).body, /^- unverified/);
    port.listener.reload({ clientCas: strangers.certificate });
    const { body, shown } = await ask();
    assert.equal(body, `jane - ${tenant} ${tenant}`);
    assert.equal(shown, `DNS:${tenant}`);
  });

  test('forgets sessions that other CAs have verified', async () => {
    for (const servername of [tenant, 'localhost']) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        await using port = await openPort(new Map([[tenant, named(tenant)]]));
        const shown = { servername, maxVersion, ...showing(client(users, 'jane')) };
        assert.match((await port.ask(shown)).body, /^jane/);
        port.listener.reload({ clientCas: strangers.certificate });
        assert.match((await port.ask({ ...shown, session: port.session })).body, /^- unverified/);
      }
    }
  });

  test('shows a renewed certificate at once, and its own when the name is given up', async () => {
    const certificates = new Map([[tenant, named(tenant)]]);
    await using port = await openPort(certificates);
    const serial = async () => {
      const socket = connect({
        port: port.listener.port,
        host: '127.0.0.1',
        servername: tenant,
        rejectUnauthorized: false,
      });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerX509Certificate()!;
      socket.destroy();
      return serialNumber;
    };
    const first = await serial();
    assert.equal(await serial(), first);
    certificates.set(tenant, named(tenant));
    assert.notEqual(await serial(), first);
    certificates.clear();
    assert.match((await port.ask({ servername: tenant, rejectUnauthorized: false })).shown, /localhost/);
  });

  test('shows its own certificate when that of a name cannot be used', async () => {
    const problems: Error[] = [];
    const broken = { key: 'nonsense', certificate: 'nonsense' };
    await using port = await openPort(new Map([[tenant, broken]]), (error) => problems.push(error));
    assert.match((await port.ask({ servername: tenant, rejectUnauthorized: false })).shown, /localhost/);
    assert.equal(problems.length, 1);
  });
});

test('what TLS needs for a name is kept for the last two hundred only', () => {
  const pair = named(tenant);
  let asked = 0;
  const names = new ServerNames(() => {
    asked++;
    return pair;
  }, {});
  const first = names.contextOf('0');
  assert.equal(names.contextOf('0'), first);
  for (let at = 1; at < 250; at++) names.contextOf(String(at));
  assert.equal(names.size, 200);
  assert.notEqual(names.contextOf('0'), first);
  assert.equal(asked, 252);
});

test('clients are told of CAs that are only advertised', async () => {
  const advertised = createAuthority('only-advertised', 1, world);
  await using port = await TestPort.open(handler, {
    clientCas: users.certificate,
    advertisedCas: advertised.certificate,
  });
  // In TLS 1.2 the certificate request is readable on the wire.
  const heard: Buffer[] = [];
  const wire = createTcpServer((near) => {
    const far = connectTcp(port.listener.port, '127.0.0.1');
    near.on('error', () => far.destroy()).pipe(far);
    far.on('data', (chunk: Buffer) => heard.push(chunk)).pipe(near);
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const { port: wirePort } = wire.address() as AddressInfo;
  await port.ask({ port: wirePort, maxVersion: 'TLSv1.2' });
  wire.close();
  const text = Buffer.concat(heard).toString('latin1');
  assert.ok(text.includes('only-advertised') && text.includes('users'));
});

test('the host of a request is known over HTTP/2, too', async () => {
  await using port = await openPort(new Map([[tenant, named(tenant)]]));
  const session = connectHttp2(`https://127.0.0.1:${port.listener.port}`, {
    servername: tenant,
    ca: serving.certificate,
  });
  try {
    const stream = session.request({ ':authority': `${tenant}:8443`, ':path': '/' });
    assert.equal((await stream.toArray()).join(''), `- - ${tenant} ${tenant}:8443`);
  } finally {
    session.close();
  }
});

test('a request that names several hosts is refused', async () => {
  await using port = await openPort(new Map());
  const socket = connect({
    port: port.listener.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: serving.certificate,
  });
  await once(socket, 'secureConnect');
  socket.write(`GET / HTTP/1.1\r\nHost: ${tenant}\r\nhost: localhost\r\nConnection: close\r\n\r\n`);
  assert.match((await socket.toArray()).join(''), /^HTTP\/1.1 400 /);
});

test('AES-128 is chosen for clients that prefer AES-256, under every name', async () => {
  await using port = await openPort(new Map([[tenant, named(tenant)]]));
  const chosen = async (servername: string, ciphers?: string): Promise<string> => {
    const options = { port: port.listener.port, host: '127.0.0.1', servername, ca: serving.certificate };
    const socket = connect({ ...options, ...(ciphers ? { ciphers } : {}) });
    try {
      await once(socket, 'secureConnect');
      return socket.getCipher().standardName;
    } finally {
      socket.destroy();
    }
  };
  for (const name of [tenant, 'localhost']) {
    assert.equal(await chosen(name, 'TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256'), 'TLS_AES_128_GCM_SHA256');
    assert.equal(await chosen(name, 'TLS_AES_256_GCM_SHA384'), 'TLS_AES_256_GCM_SHA384');
    assert.equal(await chosen(name), 'TLS_AES_128_GCM_SHA256');
  }
});
