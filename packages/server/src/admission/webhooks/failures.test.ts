import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, configMaps, TestServer } from '../../testing/test-server.ts';
import { allowed, answered, patched, startWebhook } from '../../testing/webhook-server.ts';
import type { WebhookHandler } from '../../testing/webhook-server.ts';
import { base, rule, WebhookFixture } from './testing/fixture.ts';

test('a webhook that cannot be asked refuses, or is passed over, as its policy says', async () => {
  const answers: Record<string, WebhookHandler> = {
    '/garbage': (_, response) => void response.end('<html>'),
    '/error': (_, response) => void response.writeHead(500).end('oh no'),
    '/missing': (_, response) => void response.writeHead(404).end(),
    '/redirect': (_, response) => void response.writeHead(307, { location: '/ok' }).end(),
    '/uid': (review) => ({ ...allowed(review), response: { uid: 'other', allowed: true } }),
    '/none': ({ apiVersion, kind }) => ({ apiVersion, kind }),
    '/patch': (review) => patched(review, []),
    '/typed': (review) => answered(review, { allowed: 'yes' }),
    '/reset': (_, response) => void response.socket!.destroy(),
    '/status': (_, response) =>
      void response.writeHead(403).end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', message: 'go away' })),
  };
  await using one = await WebhookFixture.start((review, response, path) => answers[path]!(review, response, path));
  const told: Record<string, string> = {};
  for (const path of Object.keys(answers)) {
    const name = path.slice(1);
    const resource = `${base}/validatingwebhookconfigurations`;
    await one.configure('Validating', name, [one.webhook(name)]);
    const { status, data } = await one.server.request('POST', configMaps, { body: configMap('a') });
    assert.equal(status, 500, path);
    told[name] = data.message.replace(`Internal error occurred: failed calling webhook "${name}.example.com": `, '');
    await one.server.merge(`${resource}/${name}`, { webhooks: [{ ...one.webhook(name), failurePolicy: 'Ignore' }] });
    await one.settled();
    await one.server.create(configMaps, configMap(name));
    await one.server.remove(`${resource}/${name}`);
    await one.settled();
  }
  const { uid, garbage, reset, ...others } = told;
  assert.match(garbage!, /^failed to call webhook: couldn't get version\/kind; json parse error: /);
  assert.match(uid!, /^received invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "other"$/);
  assert.match(reset!, /^failed to call webhook: Post "https:.*\/reset\?timeout=10s": EOF$/);
  assert.deepEqual(others, {
    error: 'failed to call webhook: an error on the server ("oh no") has prevented the request from succeeding',
    missing: 'failed to call webhook: the server could not find the requested resource',
    redirect:
      'failed to call webhook: the server responded with the status code 307 but did not return more information',
    none: 'received invalid webhook response: webhook response was absent',
    patch: 'received invalid webhook response: validating webhook may not return response.patch',
    typed:
      'received invalid webhook response: json: cannot unmarshal string into Go struct field AdmissionReview.response.allowed of type bool',
    status: 'failed to call webhook: go away',
  });
});

test('a webhook that hangs costs its time to its own request only', async () => {
  const held: (() => void)[] = [];
  await using one = await WebhookFixture.start((review, response) => {
    if (review.request.name !== 'slow') return allowed(review);
    held.push(() => response.socket!.destroy());
    return undefined;
  });
  await one.configure('Validating', 'all', [one.webhook('hang', { timeoutSeconds: 30 })]);
  const arrived = one.hook.next();
  let isOver = false;
  const slow = one.server.request('POST', configMaps, { body: configMap('slow') });
  void slow.then(() => (isOver = true));
  await arrived;
  for (let i = 0; i < 20; i++) await one.server.create(configMaps, configMap(`fast-${i}`));
  assert.ok(!isOver, 'nobody has waited for it but its own request');
  for (const end of held) end();
  assert.equal((await slow).status, 500);
});

test('a webhook that hangs is waited for as long as it says', async () => {
  await using one = await WebhookFixture.start(() => undefined);
  await one.configure('Validating', 'all', [one.webhook('hang', { timeoutSeconds: 1 })]);
  const { status, data } = await one.server.request('POST', configMaps, { body: configMap('a') });
  assert.equal(status, 500);
  assert.match(
    data.message,
    /failed calling webhook "hang.example.com": failed to call webhook: Post ".*\?timeout=1s": context deadline exceeded$/,
  );
});

test('a client that does not wait as long as its webhooks is told so, and so are they', async () => {
  await using one = await WebhookFixture.start((review) =>
    review.request.name === 'hang' ? undefined : allowed(review),
  );
  await one.configure('Mutating', 'all', [one.webhook('hang', { timeoutSeconds: 30, failurePolicy: 'Ignore' })]);
  const { status, data } = await one.server.request('POST', `${configMaps}?timeout=50ms`, { body: configMap('hang') });
  assert.equal(status, 504);
  assert.match(data.message, /request did not complete within requested timeout/);
  await one.server.create(`${configMaps}?timeout=20s`, configMap('a'));
  // The call for the first object may arrive after the client timed out.
  const call = one.hook.received.find(({ review }) => review.request.name === 'a')!;
  assert.equal(call.path, '/hang?timeout=20s');
});

test('webhooks on this machine are not called unless the administrator allows it', async () => {
  await using hook = await startWebhook((review) => allowed(review));
  await using server = await TestServer.start();
  for (const [at, host] of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]', '0x7f.1'].entries()) {
    const clientConfig = { url: `https://${host}:${hook.port}/`, caBundle: hook.caBundle };
    await server.create(`${base}/validatingwebhookconfigurations`, {
      metadata: { name: `hook-${at}` },
      webhooks: [
        { name: 'a.b.c', clientConfig, rules: [rule()], sideEffects: 'None', admissionReviewVersions: ['v1'] },
      ],
    });
    const { status, data } = await server.request('POST', configMaps, { body: configMap('a') });
    assert.equal(status, 500, host);
    assert.match(data.message, /not allowed by this server's policy/, host);
    await server.remove(`${base}/validatingwebhookconfigurations/hook-${at}`);
  }
  // A service resolves to the same address, by its endpoints or by a name.
  await server.create('/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { ports: [{ port: 443 }] },
  });
  await server.create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    metadata: { name: 'hook', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4',
    ports: [{ name: '', port: hook.port }],
    endpoints: [{ addresses: ['100.100.100.200'] }],
  });
  await server.create('/api/v1/namespaces/default/services', {
    metadata: { name: 'named' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  for (const name of ['hook', 'named']) {
    const clientConfig = { service: { namespace: 'default', name }, caBundle: hook.caBundle };
    await server.create(`${base}/validatingwebhookconfigurations`, {
      metadata: { name },
      webhooks: [
        { name: 'a.b.c', clientConfig, rules: [rule()], sideEffects: 'None', admissionReviewVersions: ['v1'] },
      ],
    });
    const { status, data } = await server.request('POST', configMaps, { body: configMap('a') });
    assert.equal(status, 500, name);
    assert.match(data.message, /not allowed by this server's policy/, name);
    await server.remove(`${base}/validatingwebhookconfigurations/${name}`);
  }
  assert.equal(hook.received.length, 0);
});

test('a service is called by the name that its certificate is for', async () => {
  await using one = await WebhookFixture.start((review) => allowed(review));
  const { server, hook } = one;
  await server.create('/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const service = { namespace: 'default', name: 'hook', path: '/x', port: hook.port };
  await one.configure('Validating', 'all', [
    one.webhook('hook', { clientConfig: { service, caBundle: hook.caBundle } }),
  ]);
  await server.create(configMaps, configMap('a'));
  assert.equal(hook.received[0]!.path, '/x?timeout=10s');
  await server.remove('/api/v1/namespaces/default/services/hook');
  await one.settled();
  const { data } = await server.request('POST', configMaps, { body: configMap('b') });
  assert.match(data.message, /Post "https:\/\/hook.default.svc:\d+\/x\?timeout=10s": service "hook" not found$/);
});
