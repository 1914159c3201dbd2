/** Logs through the kubelet API, as an API server requests them. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { test } from 'node:test';
import { Ground, shell, until } from '../testing/ground.ts';
import { clients, get, kubeletPort, ordinary, serving, signServingRequest, spdy } from '../testing/kubelet-client.ts';

test('logs have the lines that the options select, and are followed until the container exits', async () => {
  await using ground = await Ground.start({ kubelet: { clientCa: clients.certificate } });
  await ground.create('talks', {
    restartPolicy: 'Never',
    volumes: [{ name: 'shared', hostPath: { path: ground.folder } }],
    containers: [
      shell('echo one; echo two; echo three; while ! test -e /shared/go; do sleep 0.05; done; echo four', {
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      }),
    ],
  });
  await signServingRequest(ground.client);
  const port = await kubeletPort(ground.client);
  const path = '/containerLogs/default/talks/main';
  await until('three lines', async () => (await get(port, path)).text === 'one\ntwo\nthree\n');
  assert.deepEqual(await get(port, `${path}?tailLines=1`), { status: 200, text: 'three\n' });
  assert.deepEqual(await get(port, `${path}?limitBytes=5`), { status: 200, text: 'one\nt' });
  assert.deepEqual(await get(port, `${path}?sinceTime=2999-01-01T00:00:00Z`), { status: 200, text: '' });
  assert.match((await get(port, `${path}?timestamps=true&tailLines=1`)).text, /^\d{4}-[-\dT:.]+Z three\n$/);
  assert.equal((await get(port, `${path}?previous=true`)).status, 400);
  assert.equal((await get(port, '/containerLogs/default/none/main')).status, 404);

  let hasAnswered = false;
  const followed = await get(port, `${path}?follow=true&tailLines=2`, {
    onText: (text) => {
      if (hasAnswered || !text.includes('three')) return;
      hasAnswered = true;
      void writeFile(`${ground.folder}/go`, '');
    },
  });
  assert.equal(followed.text, 'two\nthree\nfour\n');
});

test('metrics have pods, restarts, probes and the memory of containers, for users with the right to nodes/metrics', async () => {
  await using ground = await Ground.start({
    kubelet: { clientCa: clients.certificate },
    backOff: { baseMs: 1, maxMs: 1 },
  });
  const exec = { command: ['true'] };
  await ground.create('runs', { containers: [shell('sleep 1000', { readinessProbe: { exec } })] });
  await ground.create('fails', { restartPolicy: 'OnFailure', containers: [shell('exit 1')] });
  await signServingRequest(ground.client);
  const port = await kubeletPort(ground.client);
  await ground.isReady('runs');
  const text = await until('a restart', async () => {
    const { status, text: found } = await get(port, '/metrics');
    assert.equal(status, 200);
    const restarts = /^hangar_process_runtime_container_restarts_total\{.*pod="fails"\} (\d+)$/m.exec(found)?.[1];
    return Number(restarts) > 0 && found;
  });
  assert.match(text, /^kubelet_running_pods \d$/m);
  assert.match(text, /^kubelet_running_containers\{container_state="running"\} \d$/m);
  assert.match(text, /^hangar_process_runtime_pods\{phase="Running",ready="true"\} \d$/m);
  assert.match(text, /^prober_probe_total\{probe_type="Readiness",result="successful"\} \d+$/m);
  assert.match(text, /^kubelet_started_containers_total \d+$/m);
  const resources = (await get(port, '/metrics/resource')).text;
  assert.match(
    resources,
    /^container_memory_working_set_bytes\{container="main",namespace="default",pod="runs"\} \d{5,}$/m,
  );
  assert.match(
    resources,
    /^container_cpu_usage_seconds_total\{container="main",namespace="default",pod="runs"\} [\d.]+$/m,
  );
  assert.doesNotMatch(resources, /kubelet_/);
  const refused = await get(port, '/metrics', { user: ordinary });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /verb=get, resource=nodes, subresource\(s\)=\[metrics\]/);
});

test('a client without a certificate of the control plane is rejected', async () => {
  await using ground = await Ground.start({ kubelet: { clientCa: clients.certificate } });
  await signServingRequest(ground.client);
  const port = await kubeletPort(ground.client);
  const answer = new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/healthz', ca: serving.certificate, agent: false }, resolve);
    sent.once('error', reject);
    sent.end();
  });
  await assert.rejects(answer);
});

test('a user with a certificate of the control plane and without rights is forbidden', async () => {
  await using ground = await Ground.start({ kubelet: { clientCa: clients.certificate } });
  await ground.create('secret', { containers: [shell('echo secret; sleep 1000')] });
  await signServingRequest(ground.client);
  const port = await kubeletPort(ground.client);
  await ground.isReady('secret');
  const answer = await get(port, '/containerLogs/default/secret/main', { user: ordinary });
  assert.equal(answer.status, 403);
  assert.match(answer.text, /^Forbidden \(user=ordinary, verb=get, resource=nodes, subresource\(s\)=\[proxy\]/);
  const refused = spdy(port, '/exec/default/secret/main?command=id&output=1', 'v4.channel.k8s.io', ordinary);
  await assert.rejects(refused, /^Error: 403: Forbidden \(user=ordinary, verb=create/);
  await assert.rejects(spdy(port, '/exec/%zz/secret/main', 'v4.channel.k8s.io'), /^Error: 500: /);
});
