/** Logs through the kubelet API, as an API server requests them. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { test } from 'node:test';
import { CertificateSigningRequest } from '@hangar/client/kinds/certificates-v1';
import { Node } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate, readCertificateRequest, signRequest } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { Ground, nodeName, shell, until } from '../testing/ground.ts';

const world = { clock: systemClock, random: systemRandom };
const clients = createAuthority('clients', 1, world);
const serving = createAuthority('kubelets', 1, world);
const certificateOf = (commonName: string, organizations: readonly string[]): KeyPair =>
  issueCertificate(clients, { commonName, organizations, usage: 'client', days: 1 }, world);
const apiServer = certificateOf('apiserver', ['system:masters']);

/** Signs the approved request of the runtime, as a controller of the control plane does. */
async function signServingRequest(ground: Ground): Promise<void> {
  const found = await until('an approved request', async () => {
    const { items } = await ground.client.list(CertificateSigningRequest);
    return items.find(({ status }) => status?.conditions?.some(({ type }) => type === 'Approved'));
  });
  const now = systemClock.now();
  const certificate = signRequest(
    serving,
    {
      request: readCertificateRequest(Buffer.from(found.spec.request, 'base64').toString()),
      keyUsage: 1,
      extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'],
      validity: { notBeforeMs: now - 60_000, notAfterMs: now + 3_600_000 },
    },
    world,
  );
  const status = { ...found.status, certificate: Buffer.from(certificate).toString('base64') };
  await ground.client.status.update(CertificateSigningRequest, { ...found, status });
}

async function kubeletPort(ground: Ground): Promise<number> {
  return until('the port of the kubelet API', async () => {
    const { status } = await ground.client.get(Node, { name: nodeName });
    return status?.daemonEndpoints?.kubeletEndpoint?.Port || undefined;
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function get(
  port: number,
  path: string,
  { onText, user = apiServer }: { onText?: (text: string) => void; user?: KeyPair } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca: serving.certificate, agent: false as const };
    const sent = request({ ...options, cert: user.certificate, key: user.key }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        onText?.(text);
      });
      response.once('end', () => resolve({ status: response.statusCode!, text }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

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
  await signServingRequest(ground);
  const port = await kubeletPort(ground);
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
    onText(text) {
      if (hasAnswered || !text.includes('three')) return;
      hasAnswered = true;
      void writeFile(`${ground.folder}/go`, '');
    },
  });
  assert.equal(followed.text, 'two\nthree\nfour\n');
});

test('a client without a certificate of the control plane is rejected', async () => {
  await using ground = await Ground.start({ kubelet: { clientCa: clients.certificate } });
  await signServingRequest(ground);
  const port = await kubeletPort(ground);
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
  await signServingRequest(ground);
  const port = await kubeletPort(ground);
  await ground.isReady('secret');
  const answer = await get(port, '/containerLogs/default/secret/main', { user: certificateOf('ordinary', []) });
  assert.equal(answer.status, 403);
  assert.match(answer.text, /^Forbidden \(user=ordinary, verb=get, resource=nodes, subresource\(s\)=\[proxy\]/);
});
