import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import { find, InProcessTransport } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { systemClock } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import type { ControllerWorld } from '../contract.ts';
import { countedClients } from '../testing/counted-clients.ts';
import { fleetKeys } from '../testing/fleet-keys.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { legacyToken } from './legacy-token.ts';
import { SecretIndex } from './secret-index.ts';
import { TokenSecretsController } from './token-secrets.ts';

const controllers = (world: ControllerWorld) => [new TokenSecretsController(world)];
const namespace = 'default';
const key = { namespace, name: 'robot-token' };
const accountKey = { namespace, name: 'robot' };

const secretFor = (account: string, name = key.name) => ({
  metadata: { namespace, name, annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
});

async function filledSecret(client: Client, name = key.name): Promise<Secret> {
  return eventually(async () => {
    const secret = await client.get(Secret, { namespace, name });
    assert.ok(secret.data?.['token'] && secret.data['ca.crt'] && secret.data['namespace']);
    return secret;
  });
}

const text = ({ data }: Secret, name: string): string => Buffer.from(data![name]!, 'base64').toString();

/** Returns the user that the control plane authenticates for a token; the status code when it rejects the token. */
async function whoIs(fleet: TestFleet, cluster: string, token: string): Promise<string | number> {
  const transport = new InProcessTransport({
    handler: fleet.handler,
    peer: { address: '127.0.0.1', certificate: undefined },
    clock: systemClock,
  });
  const answer = await transport.request({
    method: 'POST',
    target: `/clusters/${cluster}/control-plane/apis/authentication.k8s.io/v1/selfsubjectreviews`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' })),
  });
  const body = JSON.parse((await answer.body()).toString()) as { status: { userInfo: { username: string } } };
  return answer.status === 201 ? body.status.userInfo.username : answer.status;
}

describe('a token secret', () => {
  test('is filled, and its token is the account’s, in its own control plane alone', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    const account = await red.create(ServiceAccount, { metadata: accountKey });
    await red.create(Secret, secretFor('robot'));
    const secret = await filledSecret(red);
    assert.equal(text(secret, 'ca.crt'), 'the CA');
    assert.equal(text(secret, 'namespace'), namespace);
    assert.equal(secret.metadata.annotations!['kubernetes.io/service-account.uid'], account.metadata.uid);
    const token = text(secret, 'token');
    assert.equal(await whoIs(fleet, 'red', token), 'system:serviceaccount:default:robot');
    await fleet.clientOf('blue').create(ServiceAccount, { metadata: accountKey });
    assert.equal(typeof (await whoIs(fleet, 'blue', token)), 'number', 'nobody there knows it');
  });

  test('gets a token again when it was removed, and its CA and namespace', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    await red.create(ServiceAccount, { metadata: accountKey });
    await red.create(Secret, secretFor('robot'));
    await filledSecret(red);
    await red.patch(Secret, key, { type: 'merge', body: { data: { token: null, namespace: null } } });
    const again = await filledSecret(red);
    assert.equal(await whoIs(fleet, 'red', text(again, 'token')), 'system:serviceaccount:default:robot');
    const wrong = Buffer.from('not ours').toString('base64');
    await red.patch(Secret, key, { type: 'merge', body: { data: { 'ca.crt': wrong, own: wrong } } });
    await eventually(async () => assert.equal(text(await red.get(Secret, key), 'ca.crt'), 'the CA'));
    await eventually(() => running.set.length === 0);
    const settled = await red.get(Secret, key);
    assert.equal(text(settled, 'own'), 'not ours', 'what others put in stays');
    assert.equal(settled.data!['token'], again.data!['token'], 'a token that is there stays');
  });

  test('goes with its account, and never comes to be of another one with the same name', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    await red.create(ServiceAccount, { metadata: accountKey });
    for (const name of ['one', 'two']) await red.create(Secret, secretFor('robot', name));
    const token = text(await filledSecret(red, 'one'), 'token');
    await filledSecret(red, 'two');
    await red.delete(ServiceAccount, accountKey);
    await red.create(ServiceAccount, { metadata: accountKey });
    await eventually(async () => assert.deepEqual((await red.list(Secret, { namespace })).items, []));
    assert.equal(typeof (await whoIs(fleet, 'red', token)), 'number');
  });

  test('for an account that is not there is deleted', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    await red.create(Secret, secretFor('nobody'));
    await eventually(async () => assert.equal(await find(red, Secret, key), undefined));
  });

  test('that is deleted is no longer on the list of its account; what else is there stays', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using _ = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    await red.create(ServiceAccount, { metadata: accountKey, secrets: [{ name: 'mine' }, { name: key.name }] });
    await red.create(Secret, secretFor('robot'));
    await filledSecret(red);
    await red.delete(Secret, key);
    await eventually(async () => {
      assert.deepEqual((await red.get(ServiceAccount, accountKey)).secrets, [{ name: 'mine' }]);
    });
  });

  test('of other types, and without an account, is left alone', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    await using running = runControllers(fleet, { controllers, keysOf: fleetKeys(fleet).of });
    const red = fleet.clientOf('red');
    await running.synced;
    await red.create(Secret, { ...secretFor('nobody'), type: 'Opaque' });
    await red.create(Secret, {
      metadata: { namespace, name: 'mentions' },
      stringData: { text: 'kubernetes.io/service-account-token' },
    });
    await red.create(ServiceAccount, { metadata: accountKey });
    await red.create(Secret, secretFor('robot', 'real'));
    await filledSecret(red, 'real');
    await eventually(() => running.set.length === 0);
    assert.equal((await red.get(Secret, key)).data, undefined);
    assert.deepEqual(Object.keys((await red.get(Secret, { namespace, name: 'mentions' })).data!), ['text']);
  });
});

test('a set that starts again asks only for what is not in order', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  const keys = fleetKeys(fleet);
  {
    await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
    for (const cluster of ['red', 'blue']) {
      const client = fleet.clientOf(cluster);
      await client.create(ServiceAccount, { metadata: accountKey });
      await client.create(Secret, secretFor('robot'));
      await filledSecret(client);
    }
  }
  await fleet.clientOf('blue').delete(ServiceAccount, accountKey);
  const { clientOf, requests } = countedClients(fleet);
  {
    await using running = runControllers(fleet, { controllers, keysOf: keys.of, clientOf });
    await running.synced;
    await eventually(async () => assert.equal(await find(fleet.clientOf('blue'), Secret, key), undefined));
    await eventually(() => running.set.length === 0);
    assert.deepEqual(
      requests.filter((request) => request.startsWith('red')),
      [],
    );
  }
  keys.servingCa = 'another CA';
  await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
  await eventually(async () => {
    assert.equal(text(await fleet.clientOf('red').get(Secret, key), 'ca.crt'), 'another CA');
  });
});

test('tokens are signed as their key says, with RSA and on three curves; not with others', () => {
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const options = { namespace: 'n', secret: 's', account: { name: 'a', uid: 'u' } };
  const pairs = {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  };
  for (const [algorithm, { privateKey, publicKey }] of Object.entries(pairs)) {
    const token = legacyToken({ ...options, key: privateKey.export(pem) as string });
    const [head, body, signature] = token.split('.') as [string, string, string];
    const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string };
    assert.equal(header.alg, algorithm);
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, string>;
    assert.deepEqual(claims, {
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'n',
      'kubernetes.io/serviceaccount/secret.name': 's',
      'kubernetes.io/serviceaccount/service-account.name': 'a',
      'kubernetes.io/serviceaccount/service-account.uid': 'u',
      sub: 'system:serviceaccount:n:a',
    });
    const digest = `sha${algorithm.slice(2)}`;
    const signed = Buffer.from(`${head}.${body}`);
    const form = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    assert.ok(verify(digest, signed, form, Buffer.from(signature, 'base64url')), algorithm);
  }
  const other = generateKeyPairSync('ed25519').privateKey.export(pem) as string;
  assert.throws(() => legacyToken({ ...options, key: other }), { code: 'UnsupportedKey' });
});

test('the index of secrets follows them from account to account, and keeps nothing of those that are gone', () => {
  const index = new SecretIndex();
  const [one, two] = [
    { namespace: 'n', name: 'one' },
    { namespace: 'n', name: 'two' },
  ];
  index.put('red', one, 'a');
  index.put('red', two, 'a');
  index.put('blue', one, 'a');
  assert.deepEqual(index.of('red', 'n', 'a'), ['one', 'two']);
  index.put('red', one, 'b');
  assert.deepEqual([index.of('red', 'n', 'a'), index.of('red', 'n', 'b')], [['two'], ['one']]);
  assert.equal(index.delete('red', one), 'b');
  assert.equal(index.delete('red', one), undefined);
  index.delete('red', two);
  index.forget('blue');
  assert.equal(index.size, 0);
});
