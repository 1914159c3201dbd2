/** Admission webhooks, called by the real kube-apiserver and by Hangar: they change, refuse and warn, with the same output on both. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { Pod } from '@hangar/client/kinds/core-v1';
import { testAuthority } from '@hangar/testkit';
import type { TestPair } from '@hangar/testkit';
import { freePorts } from '../../tools/free-ports.ts';
import { eventually } from './testing/eventually.ts';
import { Example, exampleFolder } from './testing/example.ts';
import { assertExactRights, Side, sideNames } from './testing/sides.ts';

const manifest = join(exampleFolder('image-policy'), 'rbac.yaml');
const account = { namespace: 'image-policy', name: 'image-policy' };
const namespace = 'default';

const pod = (name: string, images: readonly string[], more: object = {}) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: { name, namespace, ...more },
  spec: { containers: images.map((image, at) => ({ name: `c${at}`, image })) },
});

describe('the image policy', { concurrency: 2 }, () => {
  for (const sideName of sideNames) describe(`on ${sideName}`, { concurrency: 1 }, () => suite(sideName));
});

function suite(sideName: Side['name']): void {
  const opened = new AsyncDisposableStack();
  const authority = testAuthority();
  let side: Side;
  let certificates: string;
  let port: number;
  let policy: Example;

  /** As cert-manager's secrets are mounted: both files change at once, by a link. */
  const putCertificate = async ({ certificate, key }: TestPair): Promise<void> => {
    for (const [name, text] of Object.entries({ 'tls.key': key, 'tls.crt': certificate })) {
      await writeFile(join(side.folder, name), text);
      await rename(join(side.folder, name), join(certificates, name));
    }
  };
  const create = (name: string, images: readonly string[], dryRun = false): Promise<Pod> =>
    side.client.create(Pod, pod(name, images), { dryRun });
  const printed = (object: object, ...args: readonly string[]): Promise<string> =>
    side.kubectl(['create', '--filename=-', ...args], { input: JSON.stringify(object), mayFail: true });

  before(async () => {
    side = opened.use(await Side.start(sideName));
    certificates = join(side.folder, 'certificates');
    await mkdir(certificates);
    await writeFile(join(certificates, 'ca.crt'), authority.certificate);
    await putCertificate(authority.serving());
    await side.apply(manifest);
    await create('older', ['evil.example.com/miner:1']);
    [port] = (await freePorts(1)) as [number];
    const env = {
      KUBECONFIG: await side.kubeconfigOf(account),
      CERTIFICATES: certificates,
      REGISTRIES: 'docker.io,registry.k8s.io',
      URL: `https://127.0.0.1:${port}`,
    };
    policy = opened.use(await Example.start({ example: 'image-policy', env }));
    // The real one applies its configuration a moment later.
    await eventually('both webhooks are asked', async () => {
      const { spec } = await create('probe', ['nginx:1'], true);
      const isRefused = await create('probe', ['evil.example.com/x:1'], true).then(
        () => false,
        () => true,
      );
      return isRefused && spec?.containers[0]?.image === 'docker.io/nginx:1';
    });
  });
  after(() => opened.disposeAsync());

  test('an image gets the registry that it means', async () => {
    const { spec } = await create('plain', ['nginx:1.29', 'registry.k8s.io/pause:3.10', 'team/app@sha256:abc']);
    const images = spec?.containers.map(({ image }) => image);
    assert.deepEqual(images, ['docker.io/nginx:1.29', 'registry.k8s.io/pause:3.10', 'docker.io/team/app@sha256:abc']);
  });

  test('an image from elsewhere is refused, kubectl says why, and programs are told which fields', async () => {
    const refused = pod('bad', ['nginx:1.29', 'evil.example.com/miner:1', 'localhost/x:2']);
    assert.equal(
      await printed(refused),
      'Error from server (Forbidden): error when creating "STDIN": admission webhook "validate.pod.v1.core" denied the ' +
        'request: spec.containers[1].image: evil.example.com is not one of docker.io, registry.k8s.io; ' +
        'spec.containers[2].image: localhost is not one of docker.io, registry.k8s.io\n',
    );
    await assert.rejects(side.client.create(Pod, refused), (error: Error & { code: string; status: object }) => {
      assert.equal(error.code, 'Forbidden');
      assert.deepEqual((error.status as { details?: { causes?: object[] } }).details?.causes, [
        { field: 'spec.containers[1].image', message: 'evil.example.com is not one of docker.io, registry.k8s.io' },
        { field: 'spec.containers[2].image', message: 'localhost is not one of docker.io, registry.k8s.io' },
      ]);
      return true;
    });
  });

  test('nor can it come later, by an update or as a debugging container', async () => {
    const containers = [{ name: 'c0', image: 'evil.example.com/miner:1' }];
    const patch = (body: object) => ({ type: 'strategic' as const, body });
    const plain = { namespace, name: 'plain' };
    await assert.rejects(side.client.patch(Pod, plain, patch({ spec: { containers } })), { code: 'Forbidden' });
    const debugging = { spec: { ephemeralContainers: [{ name: 'debug', image: 'evil.example.com/shell:1' }] } };
    await assert.rejects(side.client.subresource('ephemeralcontainers').patch(Pod, plain, patch(debugging)), {
      message:
        'admission webhook "validate.pod-ephemeralcontainers.v1.core" denied the request: ' +
        'spec.ephemeralContainers[0].image: evil.example.com is not one of docker.io, registry.k8s.io',
    });
  });

  test('a pod that is older than the policy can still change and end', async () => {
    const older = { namespace, name: 'older' };
    await side.client.patch(Pod, older, { type: 'merge', body: { metadata: { labels: { a: '1' } } } });
    assert.equal(await side.client.delete(Pod, older, { gracePeriodSeconds: 0 }), true);
  });

  test('a warning reaches whoever made the pod', async () => {
    assert.equal(
      await printed(pod('newest', ['nginx', 'nginx:1.29'])),
      'pod/newest created\nWarning: spec.containers[0].image: tag "latest" is mutable: use a fixed version\n',
    );
  });

  test('the cluster’s own namespace and the policy’s are exempt', async () => {
    for (const exempt of ['kube-system', 'image-policy']) {
      const object = pod('exempt', ['evil.example.com/x:1'], { namespace: exempt });
      assert.equal(await printed(object, '--dry-run=server'), 'pod/exempt created (server dry run)\n');
    }
  });

  test('another certificate is taken while it is called, and no call fails', async () => {
    const next = authority.serving();
    const { serialNumber } = new X509Certificate(next.certificate);
    let calls = 0;
    let isOver = false;
    const calling = (async () => {
      for (; !isOver; calls++) await create(`rotation-${calls}`, ['nginx:1'], true);
    })();
    try {
      await eventually('it is called', async () => calls > 5);
      await putCertificate(next);
      await eventually('the new certificate', async () => (await servedSerial()) === serialNumber);
      const known = calls;
      await eventually('it is called', async () => calls > known + 5);
    } finally {
      isOver = true;
      await calling;
    }
  });

  const servedSerial = async (): Promise<string> => {
    const socket = connectTls({ host: '127.0.0.1', port, ca: authority.certificate });
    try {
      await once(socket, 'secureConnect');
      return socket.getPeerCertificate().serialNumber;
    } finally {
      socket.destroy();
    }
  };

  test('its metrics have the names of controller-runtime', async () => {
    const requests = 'controller_runtime_webhook_requests_total';
    assert.ok((await policy.metric(`${requests}{webhook="/mutate--v1-pod",code="200"}`))! > 0);
    assert.ok((await policy.metric(`${requests}{webhook="/validate--v1-pod",code="200"}`))! > 0);
    assert.equal(await policy.metric('controller_runtime_webhook_panics_total'), 0);
    assert.ok((await policy.metric('certwatcher_read_certificate_total'))! >= 2);
    assert.equal(await policy.metric('certwatcher_read_certificate_errors_total'), 0);
    assert.match(await policy.get('/readyz?verbose'), /\[\+\]webhooks ok/);
  });

  test('it used every right that its roles give, and was refused none', async () => {
    await assertExactRights(side, account, parseYamlDocuments(await readFile(manifest, 'utf8')));
  });

  test('asked to end, it answers what it was asked before, and then nothing gets past it', async () => {
    const body = JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: 'last',
        kind: { group: '', version: 'v1', kind: 'Pod' },
        resource: { group: '', version: 'v1', resource: 'pods' },
        name: 'last',
        namespace,
        operation: 'CREATE',
        userInfo: {},
        object: pod('last', ['nginx:1']),
        oldObject: null,
      },
    });
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path: '/validate--v1-pod',
      method: 'POST',
      ca: authority.certificate,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    });
    const answered = once(outgoing, 'response');
    outgoing.write(body.slice(0, 20));
    // Its handler has started when another request on another connection is answered.
    await create('before-the-end', ['nginx:1'], true);
    const ended = policy.end('SIGTERM');
    await eventually('it is not ready', async () => (await policy.get('/readyz')) !== 'ok');
    outgoing.end(body.slice(20));
    const [answer] = (await answered) as [IncomingMessage];
    const review = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { response: object };
    assert.deepEqual(review.response, { uid: 'last', allowed: true });
    assert.equal(await ended, 0, policy.output);
    await assert.rejects(create('too-late', ['nginx:1'], true), {
      code: 'InternalError',
      message: /failed calling webhook "mutate\.pod\.v1\.core"/,
    });
  });
}
