/**
 * The operator enters control planes whose administrators may do everything there, also to the operator's objects. Their actions do not
 * affect other control planes or the operator; damage in their own is repaired when they stop.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@hangar/client/kinds/admissionregistration-v1';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { ControlPlane, ControlPlaneClass } from '@hangar/controlplane-operator';
import { hasCode } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { adminOf } from '../../operators/controlplane/src/testing/admin.ts';
import { LeapingClock } from '../../operators/controlplane/src/testing/leaping-clock.ts';
import { startTestPlatform } from '../../operators/controlplane/src/testing/platform.ts';
import { until, untilGone, untilReady } from '../../operators/controlplane/src/testing/until.ts';
import { Up } from './testing/up.ts';

const addonLabel = 'controlplane.kplane.dev/addon';
const inventory = { namespace: 'kplane-system', name: 'addons' };
const neighbours = 30;

let up: Up;
let version = 0;

before(async () => {
  up = await Up.start();
  await up.client.create(Namespace, { metadata: { name: 'kplane-system' } }).catch(unlessThere);
  await ship();
  await up.client.create(ControlPlaneClass, {
    metadata: { name: 'kit' },
    spec: { addons: ['kit'], deletionPolicy: 'Destroy' },
  });
  const names = ['hostile', ...Array.from({ length: neighbours }, (_, at) => `neighbour-${at}`)];
  await Promise.all(names.map((name) => up.create(name, { classRef: { name: 'kit' } })));
});
after(() => up?.[Symbol.asyncDispose]());

function unlessThere(error: unknown): void {
  if (!hasCode(error, 'AlreadyExists')) throw error;
}

/** A new version of the addon: every control plane of the class has to be entered. */
async function ship(): Promise<string> {
  const text = `v${++version}`;
  const manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kit', namespace: 'default' },
    data: { version: text },
  };
  const metadata = { namespace: 'kplane-system', name: 'kit', labels: { [addonLabel]: 'kit' } };
  await up.client.apply(
    ConfigMap,
    { metadata, data: { 'kit.yaml': JSON.stringify(manifest) } },
    { fieldManager: 'test', force: true },
  );
  return text;
}

const arrived = (client: Client, text: string): Promise<unknown> =>
  until(client, ConfigMap, 'kit', (one) => one?.data?.['version'] === text, 'default');

/** `AddonsApplied` of the hostile one. */
const applied = (status: 'True' | 'False'): Promise<ControlPlane | undefined> =>
  until(
    up.client,
    ControlPlane,
    'hostile',
    (one) => findCondition(one?.status?.conditions, 'AddonsApplied')?.status === status,
  );

const soonMs = 15_000;

/** Every neighbour has the new version soon, independent of the failing one. */
async function neighboursHave(text: string): Promise<void> {
  const deadlineMs = performance.now() + soonMs;
  const has = async (name: string): Promise<boolean> => {
    const path = `/clusters/${name}/control-plane/api/v1/namespaces/default/configmaps/kit`;
    const { data } = await up.raw.request('GET', path);
    return data?.data?.version === text;
  };
  for (let at = 0; at < neighbours; at++) {
    const name = `neighbour-${at}`;
    while (!(await has(name))) assert.ok(performance.now() < deadlineMs, `${name} waits for its addon`);
  }
}

describe('the administrator of a control plane', () => {
  test('who lists what is not the addons’ in the inventory has nothing taken away that others have, nor what every control plane has', async () => {
    const admin = await up.inside('hostile');
    await up.client.create(Namespace, { metadata: { name: 'of-the-platform', labels: { [addonLabel]: 'kit' } } });
    const item = {
      addon: 'kit',
      apiVersion: 'v1',
      kind: 'Namespace',
      plural: 'namespaces',
      isNamespaced: false,
      name: 'x',
    };
    const ways = [
      '../../../../api/v1/namespaces/of-the-platform',
      '..',
      'of-the-platform',
      'default',
      'kube-system',
      'a?b#c',
      '%2e%2e',
    ];
    const lines = [
      ...ways.map((name) => ({ ...item, name })),
      ...ways.map((namespace) => ({ ...item, kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true, namespace })),
      ...ways.map((plural) => ({ ...item, plural })),
      ...ways.map((apiVersion) => ({ ...item, apiVersion })),
      { ...item, apiVersion: 'v1/../../clusters/neighbour-0/control-plane/api/v1' },
      { ...item, name: { toString: 'x' } },
      null,
      [],
      7,
    ];
    const objects = [...lines.map((line) => JSON.stringify(line)), '{"addon":', '__proto__'].join('\n');
    for (const name of ['default', 'kube-system']) {
      await admin.patch(
        Namespace,
        { name },
        { type: 'merge', body: { metadata: { labels: { [addonLabel]: 'kit' } } } },
      );
    }
    await admin.patch(ConfigMap, inventory, { type: 'merge', body: { data: { objects } } });
    await arrived(admin, await ship());
    await applied('True');
    for (const name of ['default', 'kube-system', 'kplane-system']) {
      assert.equal((await admin.get(Namespace, { name })).metadata.deletionTimestamp, undefined, name);
    }
    assert.equal((await up.client.get(Namespace, { name: 'of-the-platform' })).metadata.deletionTimestamp, undefined);
    const { data } = await admin.get(ConfigMap, inventory);
    assert.equal(data!['objects']!.trim().split('\n').length, 1, String(data!['objects']));
  });

  test('who locks the inventory gets no addons until it is open again; the control plane is ready all the same', async () => {
    const admin = await up.inside('hostile');
    await admin.patch(ConfigMap, inventory, { type: 'merge', body: { data: { objects: '' }, immutable: true } });
    const text = await ship();
    const { status } = (await applied('False'))!;
    assert.equal(findCondition(status!.conditions, 'Ready')!.status, 'True');
    assert.equal(findCondition(status!.conditions, 'Programmed')!.status, 'True');
    assert.match(findCondition(status!.conditions, 'AddonsApplied')!.message, /immutable/);
    await neighboursHave(text);
    await admin.delete(ConfigMap, inventory);
    await arrived(admin, text);
    await applied('True');
  });

  test('an inventory full of objects that do not exist delays no other control plane', async () => {
    const admin = await up.inside('hostile');
    const item = {
      addon: 'kit',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      plural: 'configmaps',
      isNamespaced: true,
      namespace: 'default',
    };
    // Fills it to the limit: any addition of the operator is too much.
    let objects = '';
    for (let at = 0; ; at++) {
      const line = `${JSON.stringify({ ...item, name: `n${at}` })}\n`;
      // The key counts, too.
      if ('objects'.length + objects.length + line.length > 1024 * 1024) break;
      objects += line;
    }
    await admin.patch(ConfigMap, inventory, { type: 'merge', body: { data: { objects } } });
    const text = await ship();
    await neighboursHave(text);
    await arrived(admin, text);
    await applied('True');
  });

  test('a policy that forbids all writes is reported for its control plane; all others get the addon in the meantime', async () => {
    const admin = await up.inside('hostile');
    const name = 'nothing';
    const rules = [
      {
        apiGroups: [''],
        apiVersions: ['*'],
        resources: ['configmaps'],
        operations: ['CREATE' as const, 'UPDATE' as const],
      },
    ];
    await admin.create(ValidatingAdmissionPolicy, {
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [{ expression: 'false', message: 'not in my house' }],
      },
    });
    await admin.create(ValidatingAdmissionPolicyBinding, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
    await until(admin, ConfigMap, 'probe', () => true, 'default');
    // A policy takes effect a moment after its creation.
    for (let at = 0; ; at++) {
      const made = await admin
        .create(ConfigMap, { metadata: { namespace: 'default', name: `probe-${at}` } })
        .catch(() => undefined);
      if (!made) break;
    }
    const text = await ship();
    const { status } = (await applied('False'))!;
    assert.match(findCondition(status!.conditions, 'AddonsApplied')!.message, /not in my house/);
    assert.equal(findCondition(status!.conditions, 'Ready')!.status, 'True');
    await neighboursHave(text);
    await admin.delete(ValidatingAdmissionPolicyBinding, { name });
    await arrived(admin, text);
    await applied('True');
  });

  test('objects of the operator that a user deletes return when credentials are renewed, and credentials continue to work', async () => {
    const clock = new LeapingClock();
    await using platform = await startTestPlatform({ clock });
    const { client } = platform;
    platform.start();
    await client.create(ControlPlaneClass, { metadata: { name: 'tokens' }, spec: { auth: { model: 'token' } } });
    await client.create(ControlPlane, { metadata: { name: 'own' }, spec: { classRef: { name: 'tokens' } } });
    await untilReady(client, 'own');
    const key = { namespace: 'kplane-cp-own', name: 'controlplane-own-kubeconfig' };
    const before = await client.get(Secret, key);
    const inside = platform.inside('own');
    await inside.delete(ServiceAccount, { namespace: 'kplane-system', name: 'controlplane-admin' });
    await inside.delete(ClusterRoleBinding, { name: 'controlplane-admin' });
    for (let hours = 0; hours < 48; hours += 2) await clock.leap(2 * 3_600_000);
    const secret = await client.get(Secret, key);
    assert.notEqual(secret.data!['kubeconfig'], before.data!['kubeconfig']);
    const admin = await adminOf(platform, secret, 'own', 'kubeconfig', clock);
    await admin.list(ConfigMap, { namespace: 'default' });
  });

  test('a control plane in which nothing can be written can still be destroyed', async () => {
    const admin = await up.inside('hostile');
    const finalizers = ['example.com/never'];
    await admin.create(ConfigMap, { metadata: { namespace: 'default', name: 'stays', finalizers } });
    await admin.patch(Namespace, { name: 'kplane-system' }, { type: 'merge', body: { metadata: { finalizers } } });
    await up.client.delete(ControlPlane, { name: 'hostile' });
    await untilGone(up.client, ControlPlane, 'hostile');
    await untilGone(up.client, Namespace, 'kplane-cp-hostile');
  });
});
