import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { startTestFleet, virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { ControllerWorld } from '../contract.ts';
import { countedClients } from '../testing/counted-clients.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { BootstrapSignerController } from './bootstrap-signer.ts';
import { detachedSignature, signedData } from './signatures.ts';
import { expiresInMs, signingToken } from './token.ts';
import { TokenCleanerController } from './token-cleaner.ts';

const controllers = (world: ControllerWorld) => [
  new BootstrapSignerController(world),
  new TokenCleanerController(world),
];
const info = { namespace: 'kube-public', name: 'cluster-info' };
const namespace = 'kube-system';

interface TokenOptions {
  readonly secret?: string;
  readonly expiration?: string;
  readonly signs?: string;
}

const token = (id: string, { secret = '0123456789abcdef', expiration, signs = 'true' }: TokenOptions = {}) => ({
  metadata: { namespace, name: `bootstrap-token-${id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData: {
    'token-id': id,
    'token-secret': secret,
    'usage-bootstrap-signing': signs,
    'usage-bootstrap-authentication': 'true',
    ...(expiration === undefined ? {} : { expiration }),
  },
});

/** Verifies like a node that joins with a token: by the format that kubeadm documents, independent of the code under test. */
function isSignedWith({ data = {} }: ConfigMap, id: string, secret: string): boolean {
  const signature = data[`jws-kubeconfig-${id}`];
  const [header, content, mac] = signature?.split('.') ?? [];
  if (header === undefined || content !== '' || mac === undefined) return false;
  assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'HS256', kid: id });
  const payload = Buffer.from(data['kubeconfig']!).toString('base64url');
  return mac === createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
}

const signaturesOf = ({ data = {} }: ConfigMap): string[] =>
  Object.keys(data)
    .filter((key) => key.startsWith('jws-'))
    .sort();

const later = (clock: VirtualClock, seconds: number): string =>
  `${new Date(clock.now() + seconds * 1_000).toISOString().slice(0, 19)}Z`;

async function hasSignatures(client: Client, ...ids: string[]): Promise<boolean> {
  const expected = ids.map((id) => `jws-kubeconfig-${id}`);
  return JSON.stringify(signaturesOf(await client.get(ConfigMap, info))) === JSON.stringify(expected);
}

describe('cluster-info', () => {
  test('is signed with every token that may, and anew when what is signed or the token changes', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    await using running = runControllers(fleet, { controllers });
    const red = fleet.clientOf('red');
    await red.create(Secret, token('aaaaaa'));
    await red.create(Secret, token('bbbbbb', { secret: 'fedcba9876543210' }));
    await red.create(Secret, token('cccccc', { signs: 'false' }));
    const map = await eventually(async () => {
      assert.ok(await hasSignatures(red, 'aaaaaa', 'bbbbbb'));
      return red.get(ConfigMap, info);
    });
    assert.ok(isSignedWith(map, 'aaaaaa', '0123456789abcdef'));
    assert.ok(isSignedWith(map, 'bbbbbb', 'fedcba9876543210'));
    assert.ok(!isSignedWith(map, 'aaaaaa', 'fedcba9876543210'));
    await red.patch(ConfigMap, info, { type: 'merge', body: { data: { kubeconfig: 'another one', own: 'x' } } });
    await eventually(async () => {
      const changed = await red.get(ConfigMap, info);
      assert.ok(isSignedWith(changed, 'aaaaaa', '0123456789abcdef'));
      assert.equal(changed.data!['own'], 'x');
    });
    await red.patch(ConfigMap, info, { type: 'merge', body: { data: { 'jws-kubeconfig-aaaaaa': 'forged..sig' } } });
    await eventually(async () => assert.ok(isSignedWith(await red.get(ConfigMap, info), 'aaaaaa', '0123456789abcdef')));
    await red.delete(Secret, { namespace, name: 'bootstrap-token-aaaaaa' });
    await eventually(() => hasSignatures(red, 'bbbbbb'));
    assert.ok(await hasSignatures(fleet.clientOf('blue')), 'nobody else’s is touched');
    await eventually(() => running.set.length === 0);
    const revision = await fleet.store.revision();
    await red.create(Secret, token('dddddd', { signs: 'false' }));
    await eventually(() => running.set.length === 0);
    assert.equal(await fleet.store.revision(), revision + 1, 'nothing to sign, nothing to write');
  });

  test('that is in order when the set starts is not asked for; one whose token came meanwhile is signed', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue', 'idle'] });
    {
      await using _ = runControllers(fleet, { controllers });
      await fleet.clientOf('red').create(Secret, token('aaaaaa'));
      await eventually(() => hasSignatures(fleet.clientOf('red'), 'aaaaaa'));
    }
    await fleet.clientOf('blue').create(Secret, token('bbbbbb'));
    const { clientOf, requests } = countedClients(fleet);
    await using running = runControllers(fleet, { controllers, clientOf });
    await running.synced;
    await eventually(() => hasSignatures(fleet.clientOf('blue'), 'bbbbbb'));
    await eventually(() => running.set.length === 0);
    assert.ok(requests.every((request) => request.startsWith('blue')));
  });

  test('is nothing to do where there is none, or nothing in it', () => {
    const one = { id: 'aaaaaa', secret: 'x' };
    assert.equal(signedData({}, [one]), undefined);
    assert.equal(signedData({ data: { 'jws-kubeconfig-aaaaaa': 'x' } }, [one]), undefined);
    const signed = signedData({ data: { kubeconfig: 'k' } }, [one])!;
    assert.equal(signed['jws-kubeconfig-aaaaaa'], detachedSignature('k', one));
    assert.equal(signedData({ data: signed }, [one]), undefined);
    assert.deepEqual(signedData({ data: signed }, []), { kubeconfig: 'k' });
  });
});

test('an expired token is deleted when its time is over, and its signature with it', async () => {
  const clock = virtualClock();
  await using fleet = await startTestFleet({ clusters: ['red'], clock });
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, { clock, controllers, clientOf });
  await clock.run(running.synced);
  const red = fleet.clientOf('red');
  const isThere = async (id: string): Promise<boolean> =>
    (await find(red, Secret, { namespace, name: `bootstrap-token-${id}` })) !== undefined;
  await clock.run(red.create(Secret, token('aaaaaa', { expiration: later(clock, 3_600) })));
  await clock.run(red.create(Secret, token('bbbbbb')));
  await clock.run(red.create(Secret, token('cccccc', { expiration: later(clock, 100_000) })));
  await clock.until(() => hasSignatures(red, 'aaaaaa', 'bbbbbb', 'cccccc'));
  await clock.advance(1_000);
  const before = requests.length;
  await clock.advance(3_000_000);
  assert.deepEqual(requests.slice(before), [], 'nothing is asked while they wait');
  assert.ok(await clock.run(isThere('aaaaaa')));
  // Its expiration is extended.
  const body = { stringData: { expiration: later(clock, 2_000) } };
  await clock.run(red.patch(Secret, { namespace, name: 'bootstrap-token-aaaaaa' }, { type: 'merge', body }));
  await clock.advance(1_000_000);
  assert.ok(await clock.run(isThere('aaaaaa')));
  await clock.advance(1_200_000);
  await clock.until(async () => !(await isThere('aaaaaa')));
  await clock.until(() => hasSignatures(red, 'bbbbbb', 'cccccc'));
  await clock.advance(30 * 86_400_000);
  await clock.until(() => hasSignatures(red, 'bbbbbb'));
  assert.ok(await clock.run(isThere('bbbbbb')));
  await clock.run(running.stop());
});

test('tokens count by Kubernetes’ rules', () => {
  const encoded = (data: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
  const secret = (changes: Record<string, string> = {}, name = 'bootstrap-token-abcdef'): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'bootstrap.kubernetes.io/token',
    data: encoded({ 'token-id': 'abcdef', 'token-secret': 's', 'usage-bootstrap-signing': 'true', ...changes }),
  });
  const now = Date.parse('2026-05-04T03:02:01Z');
  assert.deepEqual(signingToken(secret(), now), { id: 'abcdef', secret: 's' });
  const refused = [
    secret({ 'token-id': 'abcdeg' }),
    secret({ 'token-secret': '' }),
    secret({ 'usage-bootstrap-signing': 'yes' }),
    secret({ expiration: '2026-05-04T03:02:01Z' }),
    secret({ expiration: 'tomorrow' }),
    secret({}, 'bootstrap-token-ABCDEF'),
    secret({}, 'bootstrap-token-abcdef2'),
    { ...secret(), type: 'Opaque' },
  ];
  for (const one of refused) assert.equal(signingToken(one, now), undefined, JSON.stringify(one));
  assert.equal(expiresInMs(secret(), now), Infinity);
  assert.equal(expiresInMs(secret({ expiration: '2026-05-04T05:02:02+02:00' }), now), 1_000);
  for (const text of ['2026-05-04', '1', '2026-05-04 03:02:09Z', '2026-13-40T00:00:00Z']) {
    assert.equal(expiresInMs(secret({ expiration: text }), now), 0, text);
  }
});
