/** Compares a webhook of an AuthorizationConfiguration with a real kube-apiserver: the same reviews and the same decisions. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { JsonObject } from '@hangar/api';
import { compareServers } from '../../../testing/both-servers.ts';
import type { Step } from '../../../testing/both-servers.ts';
import { startInProcess } from '../../../testing/in-process.ts';
import { Authorization } from '../configuration/authorization.ts';
import { ScriptedWebhook } from '../testing/scripted-webhook.ts';

const users = [{ token: 'jane-token', user: 'jane', uid: 'jane', groups: ['staff'] }];

const configuration = (kubeConfigFile: string): object => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AuthorizationConfiguration',
  authorizers: [
    {
      type: 'Webhook',
      name: 'first',
      webhook: {
        timeout: '3s',
        subjectAccessReviewVersion: 'v1',
        matchConditionSubjectAccessReviewVersion: 'v1',
        failurePolicy: 'Deny',
        connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
        matchConditions: [
          { expression: "!has(request.resourceAttributes) || request.resourceAttributes.namespace != 'kube-public'" },
          { expression: "!request.user.startsWith('system:') && 'staff' in request.groups" },
        ],
      },
    },
    { type: 'RBAC', name: 'rbac' },
  ],
});

const as = (method: string, path: string, body?: object): Step => ({
  method,
  path,
  token: 'jane-token',
  codeOnly: method !== 'GET',
  ...(body === undefined ? {} : { body }),
});

const steps: readonly Step[] = [
  as('GET', '/api/v1/nodes'),
  as('GET', '/api/v1/namespaces/default/pods/a/log?follow=true'),
  as('GET', '/api/v1/namespaces/kube-public/pods'),
  as(
    'GET',
    '/api/v1/pods?fieldSelector=spec.nodeName%3Dx,status.phase!%3DRunning&labelSelector=a%3Db,c%20in%20(d,e),!f,g,h>1',
  ),
  as('GET', '/api/v1/configmaps?fieldSelector=metadata.name%3Dx'),
  as('GET', '/api/v1/configmaps?fieldSelector=%3D%3D%3D&labelSelector=((('),
  as('DELETE', '/api/v1/namespaces/default/pods?labelSelector=a'),
  as('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' } }),
  as('GET', '/logs/x'),
];

test('the same is asked, and answers are obeyed alike', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-webhook-'));
  await using stubs = new AsyncDisposableStack();
  stubs.defer(() => rm(folder, { recursive: true, force: true }));
  const opened = async (name: string): Promise<{ webhook: ScriptedWebhook; file: string }> => {
    const webhook = stubs.use(await ScriptedWebhook.start());
    const kubeconfig = join(folder, `${name}.kubeconfig`);
    await writeFile(kubeconfig, webhook.kubeconfig);
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(configuration(kubeconfig)));
    return { webhook, file };
  };
  const [theirs, ours] = [await opened('real'), await opened('hangar')];
  await using real = await startRealServer([`--authorization-config=${theirs.file}`], users);
  const authorization = Promise.withResolvers<Authorization>();
  await using hangar = await startInProcess({
    tokens: users,
    authorizers: (plane) => {
      authorization.resolve(Authorization.open(plane, { source: { file: ours.file }, onError: () => {} }));
      return [{ authorize: async (user, info) => (await authorization.promise).authorize(user, info) }];
    },
  });
  stubs.defer(async () => (await authorization.promise).close());
  for (const answer of [
    { allowed: false, reason: 'not today' },
    { allowed: false, denied: true, reason: 'never' },
  ]) {
    for (const webhook of [theirs.webhook, ours.webhook]) webhook.answer(answer);
    // Earlier answers are cached: different paths lead to new reviews.
    const now = steps.map((step) => ({
      ...step,
      path: step.path.replace('default', answer.denied ? 'denied' : 'default'),
    }));
    assert.deepEqual(await compareServers(real, hangar, now), []);
  }
  assert.deepEqual(ofJane(ours.webhook), ofJane(theirs.webhook));
  assert.ok(ofJane(ours.webhook).length >= 8);
});

const ofJane = ({ asked }: ScriptedWebhook): object[] =>
  asked.flatMap(({ kind, apiVersion, spec }) =>
    (spec as JsonObject)['user'] === 'jane'
      ? [{ kind, apiVersion, spec: { ...(spec as JsonObject), extra: undefined } }]
      : [],
  );
