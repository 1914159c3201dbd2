/**
 * Admission webhooks: pods get their images from allowed registries (`REGISTRIES`). The server's certificate is in `CERTIFICATES` (tls.crt,
 * tls.key, ca.crt, as cert-manager writes them) and reloaded when it changes.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newManager, signals } from '@hangar/runtime';
import { certificateFolder, install, WebhookServer } from '@hangar/runtime/webhooks';
import { hooksOf } from './hooks.ts';

const { REGISTRIES = 'docker.io', CERTIFICATES: folder = '', NAMESPACE: namespace = 'image-policy' } = process.env;
const { URL: url = 'https://127.0.0.1:9443', HOST: host = '127.0.0.1', PORT: port = '8080' } = process.env;

// Excludes its own namespace, so that it does not block its own start.
const hooks = hooksOf(REGISTRIES.split(','), {
  namespaceSelector: {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace, 'kube-system'] }],
  },
});
const certificates = certificateFolder(folder);
const listen = { host, port: Number(new URL(url).port || 443) };

const manager = await newManager({
  webhooks: (world) => new WebhookServer({ ...world, ...listen, certificates }).register(...hooks),
  metrics: { host, port: Number(port) },
});
// Runs when the webhooks listen: from then on the API server calls them.
manager.add(async function installWebhooks(signal) {
  const caBundle = await readFile(join(folder, 'ca.crt'), 'utf8');
  const options = { name: 'image-policy.example.com', fieldManager: 'image-policy', url, caBundle, signal };
  await install(manager.cluster.client, manager.webhooks!, options);
});
await manager.run(signals());
