/** The same boundaries in the server as the program composes it, over its own port. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseYaml } from '@hangar/api';
import type { Client, Data } from '../attacks/testing/client.ts';
import { Victim } from '../attacks/testing/victim.ts';

const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
const configMaps = '/api/v1/namespaces/default/configmaps';
const planeOf = (name: string): string => `/clusters/${name}/control-plane`;
const secretOf = (name: string): string => `only-for-${name}-5f0c`;

let victim: Victim;
const admins: Record<string, Client> = {};

async function adminOf(name: string): Promise<Client> {
  const { status } = await victim.administrator.create(`${tenants}/${name}/kubeconfig`, {});
  const { users } = parseYaml(Buffer.from(status.kubeconfig as string)).value as Data;
  const decoded = (field: string): string => Buffer.from(users[0].user[field] as string, 'base64').toString();
  return victim.client({
    certificate: { certificate: decoded('client-certificate-data'), key: decoded('client-key-data') },
  });
}

before(async () => {
  victim = await Victim.start();
  for (const name of ['ada', 'bob']) {
    const kind = { kind: 'Tenant', apiVersion: 'tenancy.hangar.dev/v1alpha1' };
    const spec = { hosts: [`${name}.example.com`], deletionPolicy: 'Destroy' };
    await victim.administrator.create(tenants, { ...kind, metadata: { name }, spec });
    admins[name] = await adminOf(name);
    await admins[name].create(`${planeOf(name)}${configMaps}`, {
      metadata: { name: 'shared' },
      data: { mark: secretOf(name) },
    });
  }
});
after(() => victim?.[Symbol.asyncDispose]());

describe('the program', () => {
  test('a tenant’s certificate opens its own tenant, by path and by host, over both protocols, and nothing else', async () => {
    const { ada } = admins as { ada: Client };
    for (const request of [ada.request, ada.request2]) {
      const ask = (target: string, headers = {}) => request.call(ada, 'GET', target, { headers });
      const own = await ask(`${planeOf('ada')}${configMaps}/shared`);
      assert.equal(own.status, 200);
      assert.ok(own.text.includes(secretOf('ada')));
      for (const target of [`${planeOf('bob')}${configMaps}/shared`, `${configMaps}/x`, `${tenants}/bob`]) {
        const { status, text } = await ask(target);
        assert.equal(status, 401, target);
        assert.ok(!text.includes(secretOf('bob')));
      }
      // Documents of the management plane are refused with a hint that depends on the credential alone.
      const metrics = await ask('/metrics');
      assert.equal(metrics.status, 404);
      assert.match(metrics.text, /does not accept the credential of a control plane/);
    }
    const host = { host: 'bob.example.com' };
    assert.equal((await ada.request('GET', `${configMaps}/shared`, { headers: host })).status, 401);
    const own = await ada.request('GET', `${configMaps}/shared`, { headers: { host: 'ada.example.com' } });
    assert.ok(own.text.includes(secretOf('ada')));
  });

  test('somebody without rights, and somebody unknown, cannot tell a tenant from none', async () => {
    const strangers = [victim.nobody, victim.tenant, victim.stranger, victim.client({ token: 'made-up' })];
    for (const [at, client] of strangers.entries()) {
      for (const rest of [configMaps, '/readyz', '/version', '/api/v1/namespaces/%zz', '/metrics']) {
        const answers = await Promise.all(
          ['bob', 'nobodys'].map(async (name) => {
            const { status, text } = await client.request('GET', planeOf(name) + rest);
            return `${status} ${text}`;
          }),
        );
        assert.equal(answers[0], answers[1], `${at} ${rest}`);
        assert.match(answers[0]!, /^40[14] /);
      }
    }
  });

  test('a tenant’s figures, documents and health are about itself', async () => {
    for (const path of ['/metrics', '/', '/apis', '/readyz?verbose', '/version', '/openapi/v2']) {
      const { status, text } = await admins['ada']!.request('GET', planeOf('ada') + path);
      assert.equal(status, 200, path);
      assert.ok(!/\bbob\b/.test(text) && !text.includes('tenancy.hangar.dev') && !/^process_/m.test(text), path);
    }
  });

  test('an administrator of a tenant makes, changes and ends no tenant', async () => {
    for (const [method, path] of [
      ['POST', ''],
      ['DELETE', '/bob'],
      ['POST', '/bob/kubeconfig'],
      ['POST', '/bob/keys'],
      ['POST', '/bob/backup'],
      ['POST', '/new/restore'],
    ] as const) {
      const body = { kind: 'Tenant', apiVersion: 'tenancy.hangar.dev/v1alpha1', metadata: { name: 'new' } };
      for (const [client, expected] of [
        [admins['ada']!, 401],
        [victim.nobody, 403],
      ] as const) {
        const sent = method === 'POST' ? { body } : {};
        assert.equal((await client.request(method, tenants + path, sent)).status, expected, `${method} ${path}`);
      }
    }
  });

  test('destroyed and made again, nobody of before is known, and what is logged holds nothing that was inside', async () => {
    const { bob } = admins as { bob: Client };
    await victim.administrator.expect(200, 'DELETE', `${tenants}/bob`);
    assert.equal((await bob.request('GET', `${planeOf('bob')}${configMaps}`)).status, 401);
    const kind = { kind: 'Tenant', apiVersion: 'tenancy.hangar.dev/v1alpha1' };
    await victim.administrator.create(tenants, { ...kind, metadata: { name: 'bob' } });
    assert.equal((await bob.request('GET', `${planeOf('bob')}${configMaps}`)).status, 401);
    const again = await adminOf('bob');
    const { items } = await again.get(`${planeOf('bob')}${configMaps}`);
    assert.ok(!JSON.stringify(items).includes(secretOf('bob')));
    for (const name of ['ada', 'bob']) assert.ok(!victim.log.some((line) => line.includes(secretOf(name))));
  });
});
