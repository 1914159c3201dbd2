/** The real controllers of cert-manager issue the certificates of a HostedControlPlane, with an authority that a user supplied. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { configOfKubeconfig, connect } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { isControlledBy } from '@hangar/runtime';
import { installCrd } from '@hangar/testkit';
import { clusterSecretType, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { Certificate, certificateNameAnnotation } from '../../operators/hosted/src/cert-manager/kinds.ts';
import { until } from '../process-runtime/testing/until.ts';
import { certManagerController, certManagerDefinitions } from './cert-manager/program.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import type { PreparedCluster } from './testing/process-cluster.ts';

/** Installs the definitions and starts the controllers. */
async function startCertManager({ client, kubeconfig }: PreparedCluster): Promise<AsyncDisposable> {
  const [program, folder] = [await certManagerController(console.log), await certManagerDefinitions()];
  for (const file of (await readdir(folder)).filter((name) => name.startsWith('cert-manager.io_'))) {
    await installCrd(client, await readFile(join(folder, file), 'utf8'));
  }
  const child = spawn(program, [`--kubeconfig=${kubeconfig}`, `--cluster-resource-namespace=${namespace}`], {
    stdio: 'ignore',
  });
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    },
  };
}

test('cert-manager issues the certificates of a control plane, and issues a deleted one again', async () => {
  await using cluster = await ProcessCluster.start({ certManager: 'default', prepare: startCertManager });
  const { client } = cluster;
  const authority = createAuthority('company', 3650, { clock: systemClock, random: systemRandom });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  await client.create(Secret, {
    metadata: { namespace, name: 'demo-ca' },
    type: clusterSecretType,
    data: { 'tls.crt': base64(authority.certificate), 'tls.key': base64(authority.key) },
  });
  const plane = await client.create(HostedControlPlane, {
    metadata: { ...key },
    spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 1 } },
  });
  await cluster.ready();
  const { items } = await client.list(Certificate, { namespace });
  assert.ok(items.length >= 8, `${items.length} certificates`);
  for (const { spec } of items) {
    const secret = await client.get(Secret, { namespace, name: spec.secretName });
    assert.equal(secret.metadata.annotations?.[certificateNameAnnotation], spec.secretName);
    assert.ok(isControlledBy(secret, plane), `${spec.secretName} is deleted with the control plane`);
  }
  const serving = new X509Certificate(await cluster.secret('demo-apiserver', 'tls.crt'));
  assert.ok(serving.verify(new X509Certificate(authority.certificate).publicKey));
  const inside = connect(await configOfKubeconfig(await cluster.secret('demo-kubeconfig', 'value')));
  try {
    assert.ok((await inside.list(Namespace)).items.length >= 4);
  } finally {
    await inside.close();
  }
  const name = 'demo-scheduler';
  const { uid } = (await client.get(Secret, { namespace, name })).metadata;
  await client.delete(Secret, { namespace, name });
  await until('the certificate is issued again, and the Secret belongs to the control plane', async () => {
    const secret = (await client.list(Secret, { namespace })).items.find(({ metadata }) => metadata.name === name);
    return secret !== undefined && secret.metadata.uid !== uid && isControlledBy(secret, plane);
  });
});
