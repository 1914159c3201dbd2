import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { WebhookFixture } from '../admission/webhooks/testing/fixture.ts';
import { configMap, configMaps } from '../testing/test-server.ts';
import { allowed } from '../testing/webhook-server.ts';
import { AccessMetrics } from './access-metrics.ts';
import { AdmissionMetrics } from './admission-metrics.ts';
import { ClientMetrics } from './client-metrics.ts';
import { ControlPlaneMetrics } from './control-plane-metrics.ts';

test('a control plane without requests has no series to keep', () => {
  const metrics = new ControlPlaneMetrics(systemClock);
  assert.equal(metrics.seriesCount, 0);
  metrics.access.authenticated('jane', 1);
  assert.ok(metrics.seriesCount > 0);
});

test('users are counted by a few fixed names', () => {
  const metrics = new AccessMetrics();
  for (const name of ['admin', 'jane', 'john', 'jane@example.com']) metrics.authenticated(name, 1);
  metrics.notAuthenticated('failure', 1);
  metrics.authorized('no-opinion', 1);
  metrics.certificateUsed(100);
  const text = metrics.text();
  const counts = [...text.matchAll(/^authenticated_user_requests\{username="(.*)"\} (\d+)$/gm)];
  assert.deepEqual(
    counts.map(([, name, count]) => `${name} ${count}`),
    ['admin 1', 'other 2', 'email_id 1'],
  );
  assert.match(text, /^authentication_attempts\{result="success"\} 4$/m);
  assert.match(text, /^authentication_attempts\{result="failure"\} 1$/m);
  assert.match(text, /^authorization_attempts_total\{result="no-opinion"\} 1$/m);
  assert.match(text, /^apiserver_client_certificate_expiration_seconds_bucket\{le="1800"\} 1$/m);
  assert.match(text, /^apiserver_client_certificate_expiration_seconds_bucket\{le="2.592e\+06"\} 1$/m);
});

test('webhooks beyond the bound share one series', () => {
  const metrics = new AdmissionMetrics();
  for (let at = 0; at < 300; at++) {
    metrics.webhookCalled({ name: `hook-${at}`, isMutating: true, operation: 'CREATE', code: 200, seconds: 0.1 });
  }
  const lines = metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_admission_webhook_request_total{'));
  assert.equal(lines.length, 201);
  assert.equal(lines.at(-1), 'apiserver_admission_webhook_request_total{overflow="true"} 100');
});

test('calls are added to the same family of other clients', () => {
  const [ours, others] = [new ClientMetrics(), new ClientMetrics()];
  ours.called({ host: 'a', method: 'POST', status: 200, seconds: 0.1 });
  others.called({ host: 'b', method: 'GET', status: undefined, seconds: 0.1 });
  const text = ours.addTo(others.addTo(''));
  assert.equal(text.match(/^# TYPE rest_client_requests_total counter$/gm)!.length, 1);
  assert.match(text, /^rest_client_requests_total\{code="200",host="a",method="POST"\} 1$/m);
  assert.match(text, /^rest_client_requests_total\{code="<error>",host="b",method="GET"\} 1$/m);
});

test('calls of webhooks are counted, and their time is no part of the objective', async () => {
  await using one = await WebhookFixture.start((review) => allowed(review));
  await one.configure('Validating', 'all', [one.webhook('hook')]);
  await one.server.create(configMaps, configMap('a'));
  const text = (await one.server.request('GET', '/metrics')).text;
  assert.match(
    text,
    /^apiserver_admission_webhook_request_total\{code="200",name="hook\..*",operation="CREATE",rejected="false",type="validating"\} 1$/m,
  );
  assert.match(text, /^rest_client_requests_total\{code="200",host=".*",method="POST"\} 1$/m);
  const sum = (name: string): number =>
    Number(
      new RegExp(`^apiserver_request_${name}_sum\\{.*resource="configmaps".*verb="POST".*\\} (\\S+)$`, 'm').exec(
        text,
      )![1],
    );
  assert.ok(sum('sli_duration_seconds') < sum('duration_seconds'));
});
