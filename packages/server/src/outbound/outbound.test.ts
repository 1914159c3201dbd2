import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { HostAddresses } from './host-addresses.ts';
import { AddressPolicy, Outbound, parseCidr } from './index.ts';
import type { OutboundOptions, Resolver } from './index.ts';

const world = { clock: systemClock, random: systemRandom };
const authority = createAuthority('test', 1, world);
const serving = issueCertificate(
  authority,
  { commonName: 'hook', hosts: ['127.0.0.1', 'localhost', 'hook.example'], usage: 'server', days: 1 },
  world,
);

async function startServer(listener: RequestListener) {
  const server = createServer({ key: serving.key, cert: serving.certificate }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let connections = 0;
  server.on('secureConnection', () => connections++);
  return {
    port,
    url: `https://127.0.0.1:${port}/`,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const ask = { ca: authority.certificate, timeoutMs: 5_000 };

function client(options: OutboundOptions = {}): Outbound & Disposable {
  const outbound = new Outbound(options);
  return Object.assign(outbound, { [Symbol.dispose]: () => outbound.close() });
}

const code = (expected: string) => (error: Error & { code?: string }) => error.code === expected;

test('an allowed target is asked, and its connection is kept for the next request', async () => {
  await using server = await startServer((request, response) => response.end(`${request.method} ${request.url}`));
  using outbound = client({ allow: ['127.0.0.0/8'] });
  for (const path of ['a?x=1', 'b']) {
    const { status, body } = await outbound.request({
      ...ask,
      url: `${server.url}${path}`,
      method: 'POST',
      body: '{}',
    });
    assert.deepEqual([status, body.toString()], [200, `POST /${path}`]);
  }
  assert.equal(server.connections, 1);
});

test('a connection that was closed while it was kept is replaced without failure', async () => {
  await using server = await startServer((request, response) => {
    response.end('well');
    response.on('finish', () => setImmediate(() => request.socket.destroy()));
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  for (let i = 0; i < 5; i++) assert.equal((await outbound.request({ ...ask, url: server.url })).status, 200);
});

test('loopback, link-local and metadata addresses are refused however they are written', async () => {
  let calls = 0;
  await using server = await startServer((_, response) => {
    calls++;
    response.end();
  });
  using outbound = client();
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0x7f000001',
    '017700000001',
    '0177.0.0.1',
    'localhost',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '224.0.0.1',
    '[ff02::1]',
    '255.255.255.255',
    '100.100.100.200',
  ];
  for (const host of hosts) {
    const asked = outbound.request({ ...ask, url: `https://${host}:${server.port}/`, isInsecure: true });
    await assert.rejects(asked, code('Refused'), host);
  }
  // Hosts that are resolved without the URL parser, as for a service of type ExternalName.
  for (const host of ['localhost', '2130706433', '0x7f.1', '::ffff:127.0.0.1', '127.0.0.1']) {
    const address = { host, port: server.port };
    await assert.rejects(outbound.request({ ...ask, url: 'https://hook.example/', address }), code('Refused'), host);
    await assert.rejects(outbound.open({ host, port: server.port }, { timeoutMs: 5_000 }), code('Refused'), host);
  }
  assert.equal(calls, 0);
});

test('a name that resolves to another address with every question gains nothing', async () => {
  await using server = await startServer((_, response) => response.end('secret'));
  let questions = 0;
  const rebinding: Resolver = (_name, _options, callback) => {
    const address = questions++ % 2 === 0 ? '203.0.113.1' : '127.0.0.1';
    process.nextTick(() => callback(null, [{ address, family: 4 }]));
  };
  using outbound = client({ resolver: rebinding });
  const url = `https://hook.example:${server.port}/`;
  const outcomes: string[] = [];
  for (let i = 0; i < 4; i++) {
    await outbound.request({ ...ask, url, timeoutMs: 50 }).then(
      () => outcomes.push('reached'),
      (error: { code: string }) => outcomes.push(error.code),
    );
  }
  assert.equal(questions, 4, 'one question for each request');
  assert.ok(!outcomes.includes('reached'));
  assert.deepEqual([outcomes[1], outcomes[3]], ['Refused', 'Refused']);
});

test('of several addresses only those that are allowed are tried', async () => {
  await using server = await startServer((_, response) => response.end('inside'));
  const both: Resolver = (_name, _options, callback) =>
    process.nextTick(() => {
      callback(null, [
        { address: '169.254.169.254', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    });
  using outbound = client({ resolver: both, allow: ['127.0.0.1'] });
  const { body } = await outbound.request({ ...ask, url: `https://hook.example:${server.port}/` });
  assert.equal(body.toString(), 'inside');
});

test('a redirect is an answer: nobody follows it', async () => {
  let isReached = false;
  await using inner = await startServer((_, response) => {
    isReached = true;
    response.end();
  });
  await using server = await startServer((_, response) => {
    response.writeHead(307, { location: inner.url }).end();
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  assert.equal((await outbound.request({ ...ask, url: server.url })).status, 307);
  assert.ok(!isReached);
});

test('a connection that was opened for the administrator is never a tenant’s', async () => {
  await using server = await startServer((_, response) => response.end());
  using outbound = client();
  assert.equal((await outbound.request({ ...ask, url: server.url, isTrusted: true })).status, 200);
  await assert.rejects(outbound.request({ ...ask, url: server.url }), code('Refused'));
});

test('a server that hangs costs its timeout to its own request only', async () => {
  await using server = await startServer((request, response) => {
    if (request.url !== '/hang') response.end();
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  let isOver = false;
  const hanging = outbound.request({ ...ask, url: `${server.url}hang`, timeoutMs: 60_000, signal: stop.signal });
  hanging.catch(() => (isOver = true));
  for (let i = 0; i < 20; i++) assert.equal((await outbound.request({ ...ask, url: server.url })).status, 200);
  assert.ok(!isOver);
  stop.abort();
  await assert.rejects(hanging, code('Aborted'));
  await assert.rejects(outbound.request({ ...ask, url: `${server.url}hang`, timeoutMs: 20 }), code('Timeout'));
});
const stop = new AbortController();

test('a call that waits for its turn ends with its signal, and leaves the turn to the next', async () => {
  const held: (() => void)[] = [];
  const full = Promise.withResolvers<void>();
  await using server = await startServer((request, response) => {
    if (request.url !== '/hold') return void response.end();
    held.push(() => response.end());
    if (held.length === 32) full.resolve();
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  const holding = Array.from({ length: 32 }, () =>
    outbound.request({ ...ask, url: `${server.url}hold`, timeoutMs: 60_000 }),
  );
  await full.promise;
  const signals = [new AbortController(), new AbortController()] as const;
  const waiting = signals.map(({ signal }) => outbound.request({ ...ask, url: server.url, timeoutMs: 60_000, signal }));
  signals[0].abort();
  await assert.rejects(waiting[0]!, code('Aborted'));
  const { signal } = signals[0];
  await assert.rejects(outbound.request({ ...ask, url: server.url, timeoutMs: 60_000, signal }), code('Aborted'));
  held.pop()!();
  assert.equal((await waiting[1]!).status, 200);
  for (const end of held) end();
  await Promise.all(holding);
});

test('an answer that does not end, or never begins to, is cut off', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/drip') response.write('a');
    else response.end('x'.repeat(100_000));
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  await assert.rejects(outbound.request({ ...ask, url: `${server.url}drip`, timeoutMs: 100 }), code('Timeout'));
  await assert.rejects(outbound.request({ ...ask, url: server.url, bytesMax: 99_999 }), code('TooLarge'));
  assert.equal((await outbound.request({ ...ask, url: server.url, bytesMax: 100_000 })).body.length, 100_000);
});

test('a tenant reads the largest answers of 32 calls at the same time, and nothing beyond', async () => {
  const bytesMax = 3 * 1024 * 1024;
  const held: (() => void)[] = [];
  await using server = await startServer((request, response) => {
    if (request.url !== '/hold') return void response.end('x'.repeat(1_000));
    response.write(Buffer.alloc(bytesMax - 1));
    held.push(() => response.end('x'));
  });
  using outbound = client({ allow: ['127.0.0.0/8'] });
  const tenant = outbound.forTenant();
  const call = { ...ask, timeoutMs: 60_000, bytesMax };
  const holding = Array.from({ length: 32 }, () => tenant.request({ ...call, url: `${server.url}hold` }));
  while (tenant.answers.bytes < 32 * (bytesMax - 1)) await Promise.race([turn(), Promise.all(holding)]);
  await assert.rejects(tenant.request({ ...call, url: server.url, isConversion: true }), {
    code: 'TooLarge',
    message: 'the responses for this control plane are larger than 100663296 bytes in total',
  });
  for (const end of held) end();
  for (const { body } of await Promise.all(holding)) assert.equal(body.length, bytesMax);
  assert.deepEqual([tenant.answers.bytes, outbound.answers.bytes], [0, 0]);
  tenant.close();
});

test('the other side must show a certificate of the given authority and for the given name', async () => {
  await using server = await startServer((_, response) => response.end());
  using outbound = client({ allow: ['127.0.0.0/8'] });
  const other = createAuthority('other', 1, world);
  await assert.rejects(outbound.request({ ...ask, ca: other.certificate, url: server.url }), /unknown authority/);
  await assert.rejects(outbound.request({ ...ask, serverName: 'else.example', url: server.url }), /x509/);
  assert.equal((await outbound.request({ ...ask, serverName: 'hook.example', url: server.url })).status, 200);
});

test('only https is spoken', async () => {
  using outbound = client({ allow: ['0.0.0.0/0'] });
  for (const url of ['http://203.0.113.1/', 'file:///etc/passwd', 'ftp://x/']) {
    await assert.rejects(outbound.request({ ...ask, url }), code('Refused'));
  }
  await assert.rejects(outbound.request({ ...ask, url: '::' }), code('Unreachable'));
});

test('a connection of one’s own is opened by the same rules', async () => {
  await using server = await startServer((_, response) => response.end('raw'));
  using outbound = client({ allow: ['127.0.0.1/32'] });
  const destination = { host: '127.0.0.1', port: server.port, ca: authority.certificate, serverName: 'hook.example' };
  const socket = await outbound.open(destination, { timeoutMs: 5_000 });
  socket.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  assert.match((await socket.toArray()).join(''), /raw$/);
  socket.destroy();
});

test('networks are read strictly', () => {
  assert.deepEqual(parseCidr('10.0.0.0/8'), ['10.0.0.0', 8, 'ipv4']);
  assert.deepEqual(parseCidr('::1'), ['::1', 128, 'ipv6']);
  for (const bad of ['10.0.0.0/33', '10/8', 'a', '', '10.0.0.0/8/9', '10.0.0.0/-1', '::1/129', 'fe80::1%lo/10']) {
    assert.throws(() => parseCidr(bad), bad);
  }
  const policy = new AddressPolicy(['127.0.0.0/8']);
  assert.ok(policy.allows('127.0.0.1') && policy.allows('::ffff:127.0.0.1') && policy.allows('203.0.113.1'));
  assert.ok(!policy.allows('::1') && !policy.allows('nonsense') && !policy.allows('fe80::1%eth0'));
});

test('a tenant reaches no address of this machine, in no notation, unless the operator allows it', () => {
  const host = ['10.1.2.3', '2001:db8::5', 'fe80::1%eth0'];
  const management = new AddressPolicy([]);
  const tenant = new AddressPolicy([], new HostAddresses({ read: () => host }));
  const spellings = [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '::ffff:0:a01:203',
    '::10.1.2.3',
    '64:ff9b::a01:203',
    '64:ff9b:1::a01:203',
    '64:ff9b:1:a01:2:300::',
    '64:ff9b:1:a:1:203::',
    '64:ff9b:1:0:a:102:300:0',
    '2002:a01:203::1',
    '2001:0:a01:203::34ff:8efe',
    '2001:0:808:808::f5fe:fdfc',
    '2001:db8::5efe:a01:203',
    '2001:db8:0:0:200:5efe:10.1.2.3',
    '2001:db8::5',
    '2001:0db8:0:0:0:0:0:5',
    '2001:db8::5%eth0',
  ];
  for (const address of spellings) {
    assert.ok(management.allows(address), `management plane: ${address}`);
    assert.ok(!tenant.allows(address), `tenant: ${address}`);
  }
  for (const address of ['10.1.2.4', '2001:db8::6', '64:ff9b::a01:204']) assert.ok(tenant.allows(address), address);
  const allowed = new AddressPolicy(['10.1.2.3'], new HostAddresses({ read: () => host }));
  assert.ok(allowed.allows('10.1.2.3') && !allowed.allows('2001:db8::5'));
});

test('an address that the machine gets later is refused as well', () => {
  let nowMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };
  const addresses = ['10.1.2.3'];
  const tenant = new AddressPolicy([], new HostAddresses({ clock, read: () => addresses }));
  assert.ok(tenant.allows('10.1.2.4'));
  addresses.push('10.1.2.4');
  nowMs += 1_000;
  assert.ok(!tenant.allows('10.1.2.4'));
});

test('the addresses of this machine are those of its interfaces', () => {
  const tenant = new AddressPolicy([], new HostAddresses());
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  assert.ok(own.length > 0);
  for (const { address } of own) assert.ok(!tenant.allows(address), address);
});

test('a name that resolves to an address of this machine is refused when a tenant connects', async () => {
  await using server = await startServer((_, response) => response.end('secret'));
  const resolver: Resolver = (_name, _options, callback) =>
    process.nextTick(() => callback(null, [{ address: '198.51.100.7', family: 4 }]));
  using outbound = client({ resolver, hostAddresses: () => ['198.51.100.7'] });
  const tenant = outbound.forTenant();
  const url = `https://hook.example:${server.port}/`;
  await assert.rejects(tenant.request({ ...ask, url }), code('Refused'));
  const destination = { host: 'hook.example', port: server.port };
  await assert.rejects(tenant.open(destination, { timeoutMs: 5_000 }), code('Refused'));
  tenant.close();
});

test('a tenant does not use the connections of others', async () => {
  await using server = await startServer((_, response) => response.end());
  const address = '127.0.0.1';
  const resolver: Resolver = (_name, _options, callback) =>
    process.nextTick(() => callback(null, [{ address, family: 4 }]));
  using outbound = client({ resolver, allow: ['127.0.0.0/8'] });
  const url = `https://hook.example:${server.port}/`;
  const tenants = [outbound.forTenant(), outbound.forTenant()];
  for (const one of [outbound, ...tenants]) assert.equal((await one.request({ ...ask, url })).status, 200);
  assert.equal(server.connections, 3);
  for (const one of tenants) one.close();
});
