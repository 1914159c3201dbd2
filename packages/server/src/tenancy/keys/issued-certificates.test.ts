/** Certificates that this process issued: their signatures are not verified again; everything else is. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { parseYaml } from '@hangar/api';
import { systemClock } from '@hangar/core';
import type { ServerRequest } from '../../http/message.ts';
import { world } from '../../http/testing/test-port.ts';
import type { Data } from '../../testing/test-server.ts';
import { issueKubeconfig } from './kubeconfig.ts';
import { newTenantKeys } from './keys.ts';
import type { TenantKeys } from './keys.ts';
import { client, dayMs, later } from './testing.ts';
import { verifiersOf } from './verifiers.ts';

/** Returns the certificate of a new kubeconfig; PEM. */
async function issued(keys: TenantKeys): Promise<string> {
  const address = { server: 'https://a', servingCa: '', path: 'demo' };
  const text = await issueKubeconfig({ keys, ...address, seconds: 3_600, ...world });
  const config = parseYaml(Buffer.from(text)).value as Data;
  return Buffer.from(config.users[0].user['client-certificate-data'], 'base64').toString();
}

function shown(certificate: string): ServerRequest {
  const { raw } = new X509Certificate(certificate);
  return { peer: { unverified: { der: () => raw } } } as unknown as ServerRequest;
}

const userOf = (keys: TenantKeys, certificate: string, clock = systemClock) =>
  verifiersOf(keys, clock).certificates.authenticate(shown(certificate))?.name;

test('the signature of a certificate that was just issued is not verified', async (context) => {
  const verify = context.mock.method(X509Certificate.prototype, 'verify');
  const keys = newTenantKeys('demo', world);
  assert.equal(userOf(keys, await issued(keys)), 'admin');
  assert.equal(verify.mock.callCount(), 0);
  assert.equal(userOf(keys, client(keys.authority).certificate), 'admin');
  assert.equal(verify.mock.callCount(), 1, 'a certificate from elsewhere is verified');
});

test('a certificate that was issued for one tenant is of no use in another', async () => {
  const [keys, others] = [newTenantKeys('demo', world), newTenantKeys('demo', world)];
  const certificate = await issued(keys);
  assert.equal(userOf(others, certificate), undefined);
  assert.equal(userOf(keys, certificate), 'admin');
});

test('a certificate that was issued expires', async () => {
  const keys = newTenantKeys('demo', world);
  assert.equal(userOf(keys, await issued(keys), later(dayMs).clock), undefined);
});

test('the last sixteen certificates of a CA are remembered, and older ones are verified', async (context) => {
  const verify = context.mock.method(X509Certificate.prototype, 'verify');
  const keys = newTenantKeys('demo', world);
  const all: string[] = [];
  for (let n = 0; n < 17; n++) all.push(await issued(keys));
  for (const certificate of all) assert.equal(userOf(keys, certificate), 'admin');
  assert.equal(verify.mock.callCount(), 1);
});
