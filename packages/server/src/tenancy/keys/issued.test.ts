/**
 * Certificates that are issued with the keys of a tenant, for kubeconfigs and the front proxy, and those of the port for its host names.
 */

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { parseYaml } from '@hangar/api';
import { systemClock } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { serving, TestPort, world } from '../../http/testing/test-port.ts';
import type { Data } from '../../testing/test-server.ts';
import { tenantAuthorityName } from './advertised-authority.ts';
import { frontProxyCertificate } from './front-proxy.ts';
import { issueKubeconfig } from './kubeconfig.ts';
import { servingCertificates } from './serving-certificates.ts';
import { dayMs } from './testing.ts';

const authority = createAuthority(tenantAuthorityName, 10, world);
const frontProxyAuthority = createAuthority('hangar-demo-front-proxy-ca', 1_000, world);

/** Dependencies with a clock that the test moves. */
function movable() {
  const time = { now: Date.now() };
  return { time, world: { ...world, clock: { ...systemClock, now: () => time.now } } };
}

const pemIn = (base64: string): string => Buffer.from(base64, 'base64').toString();

test('a kubeconfig has a certificate of the tenant, its address, and the CA of the port', async () => {
  const server = 'https://hangar.example.com/clusters/demo/control-plane';
  const options = {
    keys: { authority },
    server,
    servingCa: serving.certificate,
    path: 'demo',
    seconds: 3_600,
    ...world,
  };
  const config = parseYaml(Buffer.from(await issueKubeconfig(options))).value as Data;
  assert.equal(config['current-context'], 'demo');
  assert.deepEqual(config.contexts, [{ name: 'demo', context: { cluster: 'demo', user: 'admin' } }]);
  const [{ name, cluster }] = config.clusters;
  assert.equal(name, 'demo');
  assert.equal(cluster.server, server);
  assert.equal(pemIn(cluster['certificate-authority-data']), serving.certificate);
  const [{ user }] = config.users;
  const certificate = new X509Certificate(pemIn(user['client-certificate-data']));
  assert.equal(certificate.subject, 'O=system:masters\nCN=admin');
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(pemIn(user['client-key-data']))));
  const seconds = (certificate.validToDate.getTime() - Date.now()) / 1_000;
  assert.ok(Math.abs(seconds - 3_600) < 10, `${seconds} s`);
});

test('a kubeconfig may be for somebody else', async () => {
  const config = parseYaml(
    Buffer.from(
      await issueKubeconfig({
        keys: { authority },
        server: 'https://a',
        servingCa: serving.certificate,
        path: 'demo',
        user: 'jane',
        groups: ['x', 'y'],
        seconds: 60,
        ...world,
      }),
    ),
  ).value as Data;
  assert.equal(config.users[0].name, 'jane');
  const { subject } = new X509Certificate(pemIn(config.users[0].user['client-certificate-data']));
  assert.equal(subject, 'O=x\nO=y\nCN=jane');
});

test('the front proxy has a certificate of its own CA, the same until it must be renewed', () => {
  const { time, world: moved } = movable();
  const certificate = frontProxyCertificate({ keys: { frontProxyAuthority }, ...moved });
  const first = certificate();
  const read = new X509Certificate(first.certificate);
  assert.equal(read.subject, 'CN=front-proxy-client');
  assert.deepEqual(read.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.ok(read.verify(new X509Certificate(frontProxyAuthority.certificate).publicKey));
  assert.ok(!read.verify(new X509Certificate(authority.certificate).publicKey));
  time.now += 15 * dayMs;
  assert.equal(certificate(), first);
  time.now += 10 * dayMs;
  assert.notEqual(certificate(), first);
  assert.ok(new X509Certificate(certificate().certificate).validToDate.getTime() > time.now + 20 * dayMs);
});

test("the port's certificates for names are kept until they must be renewed, and only for the last names", () => {
  const { time, world: moved } = movable();
  let by = serving;
  const certificates = servingCertificates({ authority: () => by, namesMax: 2, ...moved });
  const first = certificates('a.example.com');
  assert.equal(new X509Certificate(first.certificate).checkHost('a.example.com'), 'a.example.com');
  assert.equal(certificates('a.example.com'), first);
  time.now += 70 * dayMs;
  const second = certificates('a.example.com');
  assert.notEqual(second, first);
  by = createAuthority('another', 1, world);
  const third = certificates('a.example.com');
  assert.notEqual(third, second);
  certificates('b.example.com');
  assert.equal(certificates('a.example.com'), third);
  certificates('c.example.com');
  assert.equal(certificates('a.example.com'), third);
  certificates('b.example.com');
  certificates('c.example.com');
  assert.notEqual(certificates('a.example.com'), third);
});

test('clients of the port trust such a certificate', async () => {
  const certificates = servingCertificates({ authority: () => serving, ...world });
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`;
  await using port = await TestPort.open(async () => ({ status: 200, headers: {}, body: Buffer.from('hello') }), {
    clientCas: authority.certificate,
    serverCertificate: (name) => (name.endsWith('.example.com') ? certificates(name) : undefined),
  });
  for (const servername of ['a.example.com', long]) {
    assert.deepEqual(await port.ask({ servername }), { body: 'hello', shown: `DNS:${servername}` });
  }
});
