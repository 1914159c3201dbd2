/** Tests kubeconfigs and credentials of users. The management plane stands for the control plane that signs their certificates. */

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import type { Client } from '@hangar/client';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { systemClock } from '@hangar/core';
import { testAuthority } from '@hangar/testkit';
import { ControlPlane } from '../kinds.ts';
import { kubeconfigText, makePlane, makeReady, serverOf } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';

/** Gives approved requests a certificate of their user name, until the signal. Returns the requests. */
function signing(client: Client, signal: AbortSignal): { readonly requests: CertificateSigningRequest[] } {
  const requests: CertificateSigningRequest[] = [];
  const authority = testAuthority();
  const sign = async (): Promise<void> => {
    for await (const event of client.watch(CertificateSigningRequest, { signal, resourceVersion: '0' })) {
      if (event.type !== 'MODIFIED' || event.object.status?.certificate) continue;
      if (!event.object.status?.conditions?.some(({ type }) => type === 'Approved')) continue;
      requests.push(event.object);
      const certificate = Buffer.from(authority.client(`user-${requests.length}`).certificate).toString('base64');
      const status = { ...event.object.status, certificate };
      await client.status.update(CertificateSigningRequest, { ...event.object, status });
    }
  };
  void sign().catch(() => undefined);
  return { requests };
}

async function openSigningWorld() {
  const stack = new AsyncDisposableStack();
  const world = stack.use(await openTestWorld());
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  await world.client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  // The client is given by the session, but its configuration must be valid.
  const kubeconfig = kubeconfigText(serverOf('demo')).replace(', certificate-authority-data: Y2E=', '');
  await makeReady(world.client, 'demo', { kubeconfig });
  const { requests } = signing(world.client, stop.signal);
  return { world, requests, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const userIn = (text: string): Record<string, never> =>
  (parseYaml(text).value as { users: { user: Record<string, never> }[] }).users[0]!.user;

const pem = (base64: string): string => Buffer.from(base64, 'base64').toString();

describe('kubeconfig --user', () => {
  test('has a certificate that the control plane signed for the user and its groups', async () => {
    await using opened = await openSigningWorld();
    const { world, requests } = opened;
    const words = ['--user', 'jane@example.com', '--group', 'dev,ops', '--expires', '2h'];
    const { code, out, err } = await world.run('kubeconfig', 'demo', ...words);
    assert.equal(code, 0, err);
    const user = userIn(out);
    assert.equal(new X509Certificate(pem(user['client-certificate-data']!)).subject, 'CN=user-1');
    createPrivateKey(pem(user['client-key-data']!));
    const [{ metadata, spec } = assert.fail('a request')] = requests;
    assert.match(metadata.name!, /^jane-example-com-/);
    assert.equal(spec.expirationSeconds, 7_200);
    assert.equal(spec.signerName, 'kubernetes.io/kube-apiserver-client');
    const { items } = await world.client.list(CertificateSigningRequest);
    assert.deepEqual(items, [], 'the request is deleted');
  });

  test('rejects groups and lifetimes without a user, and lifetimes that no control plane signs', async () => {
    await using world = await openTestWorld();
    for (const [words, message] of [
      [['--group', 'dev'], /--group requires --user/],
      [['--expires', '1h'], /--expires requires --user/],
      [['--user', 'jane', '--expires', '1m'], /--expires must be at least 10m/],
      [['--user', 'jane', '--expires', '9000h'], /at most 8760h/],
    ] as const) {
      const { code, err } = await world.run('kubeconfig', 'demo', ...words);
      assert.equal(code, 2);
      assert.match(err, message);
    }
  });
});

test('kubeconfig --exec runs hangar credential for the same management plane from any folder', async () => {
  await using world = await openTestWorld();
  await makePlane(world.client, 'demo');
  const words = ['--exec', '--user', 'jane', '--group', 'dev', '--context', 'hangar'];
  const { code, out, err } = await world.runIn({ program: 'npx hangar' }, 'kubeconfig', 'demo', ...words);
  assert.equal(code, 0, err);
  const { exec, ...others } = userIn(out);
  assert.deepEqual(others, {});
  const { apiVersion, command, args, interactiveMode } = exec as unknown as Record<string, unknown>;
  assert.equal(apiVersion, 'client.authentication.k8s.io/v1');
  assert.equal(interactiveMode, 'Never');
  assert.equal(command, 'npx');
  assert.deepEqual(args, [
    'hangar',
    'credential',
    'demo',
    '--user=jane',
    '--group=dev',
    '--expires=86400s',
    `--kubeconfig=${join(world.folder, '.data', 'admin.kubeconfig')}`,
    '--context=hangar',
  ]);
});

describe('credential', () => {
  test('prints the current credential of the administrator', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const { code, out, err } = await world.run('credential', 'demo');
    assert.equal(code, 0, err);
    const { apiVersion, kind, status } = JSON.parse(out) as Record<string, Record<string, string>>;
    assert.equal(`${apiVersion} ${kind}`, 'client.authentication.k8s.io/v1 ExecCredential');
    assert.equal(status!['token'], 'secret-of-admin');
    assert.ok(Date.parse(status!['expirationTimestamp']!) > Date.now());
  });

  test('prints the certificate of the administrator', async () => {
    await using world = await openTestWorld();
    const { certificate, key } = testAuthority().client('admin');
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const user = `client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)}`;
    await world.client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
    await makeReady(world.client, 'demo', { kubeconfig: kubeconfigText(serverOf('demo'), user) });
    const { out } = await world.run('credential', 'demo');
    const { status } = JSON.parse(out) as { status: Record<string, string> };
    assert.equal(status['clientCertificateData'], certificate);
    assert.equal(status['clientKeyData'], key);
  });

  test('issues a certificate once, and the next one before it expires', async () => {
    await using opened = await openSigningWorld();
    const { world, requests } = opened;
    const subjectAt = async (now: number, ...words: string[]): Promise<string> => {
      const clock = { ...systemClock, now: () => now, after: systemClock.after.bind(systemClock) };
      const { code, out, err } = await world.runIn({ clock }, 'credential', 'demo', '--user', 'jane', ...words);
      assert.equal(code, 0, err);
      const { status } = JSON.parse(out) as { status: Record<string, string> };
      return new X509Certificate(status['clientCertificateData']!).subject;
    };
    const now = Date.now();
    assert.equal(await subjectAt(now), 'CN=user-1');
    assert.equal(await subjectAt(now), 'CN=user-1');
    assert.equal(await subjectAt(now, '--group', 'dev'), 'CN=user-2', 'other groups have another certificate');
    assert.equal(await subjectAt(now + 23 * 3_600_000), 'CN=user-3', 'a fifth of its lifetime is left');
    assert.equal(requests.length, 3);
    const folder = join(world.folder, 'home', '.cache', 'hangar', 'credentials');
    const files = await readdir(folder);
    assert.equal(files.length, 2);
    for (const file of files) assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600);
  });

  test('of a control plane that was deleted is not printed, also if it is cached', async () => {
    await using opened = await openSigningWorld();
    const { world } = opened;
    assert.equal((await world.run('credential', 'demo', '--user', 'jane')).code, 0);
    await world.client.delete(ControlPlane, { name: 'demo' });
    const { code, out, err } = await world.run('credential', 'demo', '--user', 'jane');
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, /there is no control plane "demo"/);
  });
});
