/**
 * Objects that make a control plane send requests, call webhooks, evaluate policies or convert: they apply to their own control plane only.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definition, definitions, version, widget, widgets } from '../../../packages/server/src/testing/test-server.ts';
import { denied, patched, startWebhook } from '../../../packages/server/src/testing/webhook-server.ts';
import { inDefault, rbac, until, withCertificate } from '../testing/world.ts';
import type { Data, Resident, World } from '../testing/world.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const everyWrite = [
  {
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources: ['configmaps'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  },
];

let written = 0;

const writes = async (one: Resident, prefix: string): Promise<number> => {
  const name = `${prefix}-${++written}`;
  const { status } = await one.request('POST', `${inDefault}/configmaps`, { body: { metadata: { name } } });
  // It may be subject to the policy meanwhile.
  if (status === 201) await one.request('DELETE', `${inDefault}/configmaps/${name}`);
  return status;
};

export function pointingCases(get: () => World): void {
  describe('what is called', () => {
    test('a validating webhook of one tenant is asked about its own objects only', async () => {
      const { bob } = get();
      const own = await get().tenant();
      await using hook = await startWebhook((review) => denied(review));
      await own.create(`${admission}/validatingwebhookconfigurations`, {
        metadata: { name: 'deny' },
        webhooks: [
          {
            name: 'deny.example.com',
            clientConfig: hook.clientConfig(),
            rules: everyWrite,
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            namespaceSelector: {},
          },
        ],
      });
      await until('the webhook is asked', async () => (await writes(own, 'denied')) === 400);
      const asked = hook.received.length;
      assert.equal(await writes(bob, 'allowed'), 201);
      await get().expect(201, 'POST', `${inDefault}/configmaps`, { body: { metadata: { name: 'allowed' } } });
      await get().expect(200, 'DELETE', `${inDefault}/configmaps/allowed`);
      assert.equal(hook.received.length, asked, 'it was asked about others');
    });

    test('a mutating webhook of one tenant changes its own objects only', async () => {
      const { bob } = get();
      const own = await get().tenant();
      await using hook = await startWebhook((review) =>
        patched(review, [{ op: 'add', path: '/metadata/annotations', value: { injected: 'yes' } }]),
      );
      await own.create(`${admission}/mutatingwebhookconfigurations`, {
        metadata: { name: 'inject' },
        webhooks: [
          {
            name: 'inject.example.com',
            clientConfig: hook.clientConfig(),
            rules: [{ ...everyWrite[0], operations: ['CREATE'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      const annotated = async (one: Resident): Promise<boolean> => {
        const made = await one.create(`${inDefault}/configmaps`, { metadata: { name: 'mutated' } });
        await one.remove(`${inDefault}/configmaps/mutated`);
        return made.metadata.annotations?.injected === 'yes';
      };
      await until('the webhook is asked', () => annotated(own));
      assert.equal(await annotated(bob), false);
      for (const { review } of hook.received) assert.ok(!JSON.stringify(review).includes(bob.marker));
    });

    test('a conversion webhook of one tenant converts for it alone, whatever has the same name elsewhere', async () => {
      const own = await get().tenant();
      const other = await get().tenant();
      await using hook = await startWebhook(({ apiVersion, kind, request }) => ({
        apiVersion,
        kind,
        response: {
          uid: request.uid,
          result: { status: 'Success' },
          convertedObjects: request.objects.map((object: Data) => ({
            ...object,
            apiVersion: request.desiredAPIVersion,
            spec: { size: 666 },
          })),
        },
      }));
      const versions = [version('v1', { size: { type: 'integer' } }), version('v2', { size: { type: 'integer' } })];
      const made = definition({ versions: [versions[0]!, { ...versions[1], storage: false }] });
      const { clientConfig } = hook;
      const conversion = {
        strategy: 'Webhook',
        webhook: { clientConfig: clientConfig('/convert'), conversionReviewVersions: ['v1'] },
      };
      await own.create(definitions, { ...made, spec: { ...made.spec, conversion } });
      await other.create(definitions, made);
      for (const one of [own, other]) {
        await one.create(widgets, widget('w', { size: 1 }, { annotations: { mark: one.marker } }));
      }
      const asV2 = async (one: Resident): Promise<number> =>
        (await one.get('/apis/example.com/v2/namespaces/default/widgets/w')).spec.size as number;
      assert.deepEqual([await asV2(own), await asV2(other)], [666, 1]);
      assert.ok(hook.received.length > 0);
      for (const { review } of hook.received) assert.ok(!JSON.stringify(review).includes(other.marker));
    });

    test('an aggregated API of one tenant is served in it alone', async () => {
      const own = await get().tenant();
      const { bob } = get();
      await own.create(apiServices, {
        metadata: { name: 'v1.remote.example.com' },
        spec: {
          group: 'remote.example.com',
          version: 'v1',
          service: { name: 'kubernetes', namespace: 'default' },
          groupPriorityMinimum: 100,
          versionPriority: 10,
          insecureSkipTLSVerify: true,
        },
      });
      await until(
        'it is handed on',
        async () => (await own.request('GET', '/apis/remote.example.com/v1/x')).status === 503,
      );
      await bob.expect(404, 'GET', '/apis/remote.example.com/v1/x');
      await get().expect(404, 'GET', '/apis/remote.example.com/v1/x');
      const { text } = await bob.request('GET', '/apis');
      assert.ok(!text.includes('remote.example.com'));
      await bob.expect(404, 'GET', `${apiServices}/v1.remote.example.com`);
    });

    test('an APIService that takes the place of a built-in group takes it in its own tenant', async () => {
      const own = await get().tenant();
      const { bob } = get();
      const taken = {
        group: 'apps',
        version: 'v1',
        service: { name: 'kubernetes', namespace: 'default' },
        groupPriorityMinimum: 20_000,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      };
      const path = `${apiServices}/v1.apps`;
      const known = await own.get(path);
      await own.expect(200, 'PUT', path, { body: { ...known, spec: taken } });
      await until('it is taken', async () => (await own.request('GET', '/apis/apps/v1/deployments')).status === 503);
      await bob.get('/apis/apps/v1/deployments');
      await get().expect(200, 'GET', '/apis/apps/v1/deployments');
    });
  });

  describe('what judges', () => {
    test('a policy of one tenant is no policy of another', async () => {
      const own = await get().tenant();
      const { bob } = get();
      await own.create(`${admission}/validatingadmissionpolicies`, {
        metadata: { name: 'never' },
        spec: {
          matchConstraints: { resourceRules: everyWrite },
          validations: [{ expression: 'false', message: own.marker }],
        },
      });
      await own.create(`${admission}/validatingadmissionpolicybindings`, {
        metadata: { name: 'never' },
        spec: { policyName: 'never', validationActions: ['Deny'] },
      });
      await until('the policy holds', async () => (await writes(own, 'judged')) === 422);
      const { status, text } = await bob.request('POST', `${inDefault}/configmaps`, {
        body: { metadata: { name: 'judged' } },
      });
      assert.equal(status, 201, text);
      await bob.remove(`${inDefault}/configmaps/judged`);
    });

    test('a binding of one tenant to a policy that only another has binds nothing', async () => {
      const own = await get().tenant();
      const other = await get().tenant();
      await own.create(`${admission}/validatingadmissionpolicies`, {
        metadata: { name: 'theirs' },
        spec: {
          matchConstraints: { resourceRules: everyWrite },
          validations: [{ expression: 'false', message: own.marker }],
        },
      });
      await other.create(`${admission}/validatingadmissionpolicybindings`, {
        metadata: { name: 'theirs' },
        spec: { policyName: 'theirs', validationActions: ['Deny'] },
      });
      for (let at = 0; at < 10; at++) {
        assert.equal(await writes(other, 'bound'), 201);
        assert.equal(await writes(own, 'bound'), 201);
      }
    });

    test('roles that all were born with are each tenant’s own: changed, deleted and bound in one, the same in others', async () => {
      const world = get();
      const { bob } = world;
      const own = await world.tenant();
      const viewer = (one: Resident) => withCertificate(one.certificate({ commonName: 'viewer' }));
      const bound = (one: Resident) =>
        one.create(`${rbac}/clusterrolebindings`, {
          metadata: { name: 'viewers' },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'viewer' }],
          roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'view' },
        });
      for (const one of [own, bob]) await bound(one);
      const may = async (one: Resident, path: string): Promise<number> =>
        (await one.request('GET', path, viewer(one))).status;
      for (const one of [own, bob]) {
        await until('the binding counts', async () => (await may(one, `${inDefault}/configmaps`)) === 200);
      }
      const before = await bob.get(`${rbac}/clusterroles?limit=500`);
      // More permissions: everything, by aggregation, by replacement, and by a new name.
      const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
      await own.create(`${rbac}/clusterroles`, {
        metadata: { name: 'more', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
        rules,
      });
      await until('it is aggregated', async () => (await may(own, `${inDefault}/secrets/treasure`)) === 200);
      assert.equal(await may(bob, `${inDefault}/secrets/treasure`), 403);
      const podRules = [{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }];
      await own.merge(`${rbac}/clusterroles/system:public-info-viewer`, { rules: podRules });
      await until('it counts', async () => (await own.request('GET', `${inDefault}/pods`, own.user)).status === 200);
      assert.equal((await bob.request('GET', `${inDefault}/pods`, bob.user)).status, 403);
      await own.merge(`${rbac}/clusterroles/cluster-admin`, { rules: [] });
      await own.remove(`${rbac}/clusterroles/edit`);
      await own.remove(`${rbac}/clusterrolebindings/cluster-admin`);
      await own.remove(`${rbac}/clusterroles/view`);
      await until('it is gone', async () => (await may(own, `${inDefault}/configmaps`)) === 403);
      assert.equal(await may(bob, `${inDefault}/configmaps`), 200);
      assert.equal((await bob.request('GET', `${inDefault}/secrets`, bob.robot)).status, 200);
      assert.deepEqual((await bob.get(`${rbac}/clusterroles?limit=500`)).items, before.items);
      const { items } = await world.expect(200, 'GET', `${rbac}/clusterroles`);
      assert.ok(items.some(({ metadata }: Data) => metadata.name === 'edit'));
      // A tenant that is opened later has the default objects only.
      const late = await world.tenant();
      await bound(late);
      await until('the binding counts', async () => (await may(late, `${inDefault}/configmaps`)) === 200);
      assert.equal(await may(late, `${inDefault}/secrets`), 403);
      await bob.remove(`${rbac}/clusterrolebindings/viewers`);
    });

    test('impersonation is judged for custom resources as for all others', async () => {
      const own = await get().tenant();
      await own.create(definitions, definition());
      await own.create(widgets, widget('w', { size: 1 }));
      const headers = { 'impersonate-user': 'jane' };
      for (const method of ['GET', 'DELETE']) await own.expect(403, method, `${widgets}/w`, { headers });
      await own.expect(403, 'GET', `${widgets}/w`, own.user);
      await own.expect(403, 'GET', `${widgets}/w`, { ...own.user, headers: { 'impersonate-user': 'admin' } });
      await own.get(`${widgets}/w`);
    });
  });
}
