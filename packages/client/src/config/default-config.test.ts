import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { describe, test } from 'node:test';
import { testAuthority, virtualClock } from '@hangar/testkit';
import { defaultConfig } from './default-config.ts';
import { inClusterConfig } from './in-cluster.ts';
import { kubeconfig, testFolder } from './testing/files.ts';

const at = (server: string) => kubeconfig({ cluster: { server } });
const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const certificate = testAuthority().certificate;

describe('the default configuration', () => {
  test('is what was named, KUBECONFIG, the pod, the home folder, in this order', async (context) => {
    const folder = await testFolder(context);
    const named = await folder.write('named', at('https://named'));
    const first = await folder.write('first', at('https://first'));
    await folder.write('home/.kube/config', at('https://home'));
    for (const [name, text] of [
      ['token', 't'],
      ['ca.crt', certificate],
      ['namespace', 'team'],
    ] as const) {
      await folder.write(`pod/${name}`, text);
    }
    const homeFolder = `${folder.path}/home`;
    const inCluster = { folder: `${folder.path}/pod` };
    const env = { ...pod, KUBECONFIG: [`${folder.path}/absent`, '', first].join(delimiter) };
    const serverOf = async (options: Parameters<typeof defaultConfig>[0]) =>
      (await defaultConfig({ homeFolder, inCluster, ...options })).server;
    assert.equal(await serverOf({ env, kubeconfig: named }), 'https://named');
    assert.equal(await serverOf({ env }), 'https://first');
    assert.equal(await serverOf({ env: pod }), 'https://10.0.0.1:443');
    assert.equal(await serverOf({ env: pod, context: 'x' }), 'https://home', 'a context is of a kubeconfig');
    assert.equal(await serverOf({ env: {} }), 'https://home');
    await assert.rejects(defaultConfig({ env: {}, homeFolder: folder.path }), {
      code: 'InvalidKubeconfig',
      message: /no kubeconfig was given, KUBECONFIG is not set, .* not run in a pod, and .*config does not exist/,
    });
    await assert.rejects(defaultConfig({ env: { KUBECONFIG: '/absent' }, homeFolder }), {
      code: 'InvalidKubeconfig',
      message: /none of \/absent exists/,
    });
  });

  test('does not pass over a kubeconfig that is broken', async (context) => {
    const folder = await testFolder(context);
    const KUBECONFIG = [await folder.write('broken', 'a: ['), await folder.write('good', at('https://good'))].join(
      delimiter,
    );
    await assert.rejects(defaultConfig({ env: { KUBECONFIG } }), { message: /broken: is not valid YAML/ });
  });
});

describe('the configuration of a pod', () => {
  test('has a token and an authority that are read again', async (context) => {
    const folder = await testFolder(context);
    const clock = virtualClock();
    await folder.write('token', 'one');
    await folder.write('ca.crt', certificate);
    const env = { ...pod, KUBERNETES_SERVICE_HOST: 'fd00::1' };
    const config = await inClusterConfig(env, { folder: folder.path, clock });
    assert.equal(config.server, 'https://[fd00::1]:443');
    assert.equal(config.namespace, undefined);
    assert.equal(config.ca, certificate);
    const renewed = testAuthority('next').certificate;
    await folder.write('token', 'two');
    await folder.write('ca.crt', renewed);
    assert.equal(await config.renewedCa!(), certificate);
    await clock.advance(60_000);
    assert.equal(await config.renewedCa!(), renewed);
    assert.deepEqual(await config.credentials!.headers(), { authorization: 'Bearer two' });
    await folder.write('ca.crt', '');
    await clock.advance(60_000);
    assert.equal(await config.renewedCa!(), renewed, 'half written is not renewed');
  });

  test('is refused outside of one, and where something is missing', async (context) => {
    const folder = await testFolder(context);
    await assert.rejects(inClusterConfig({}), { code: 'InvalidKubeconfig', message: /not in a cluster/ });
    await assert.rejects(inClusterConfig(pod, { folder: folder.path }), { code: 'CredentialsFailed' });
    await folder.write('token', 't');
    await assert.rejects(inClusterConfig(pod, { folder: folder.path }), { message: /ca\.crt: ENOENT/ });
  });
});
