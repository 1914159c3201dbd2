import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { Secret, Tenant } from '../kinds.ts';
import { makePlane } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';

const command = 'kubeadm join 10.1.2.3:7500 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:ab';
const data = {
  command,
  token: 'abcdef.0123456789abcdef',
  endpoint: 'https://10.1.2.3:7500',
  'ca-hash': 'sha256:ab',
  'ca.crt': '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n',
  'discovery.kubeconfig': 'kind: Config\n',
  'kubelet.yaml': 'kind: KubeletConfiguration\nserverTLSBootstrap: true\n',
};

type World = Awaited<ReturnType<typeof openTestWorld>>;

async function withNodes({ client }: World, expires: string): Promise<void> {
  await makePlane(client, 'demo');
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { nodes: { enabled: true } } } });
  await client.create(Secret, {
    metadata: {
      namespace: 'kplane-cp-demo',
      name: 'controlplane-demo-join',
      annotations: { 'controlplane.kplane.dev/expires': expires },
    },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  });
}

const later = '2999-01-01T00:00:00.000Z';

describe('node join-command', () => {
  test('prints the kubeadm join command alone', async () => {
    await using world = await openTestWorld();
    await withNodes(world, later);
    assert.deepEqual(await world.run('node', 'join-command', 'demo'), { code: 0, out: `${command}\n`, err: '' });
  });

  test('prints a script for a kubelet without kubeadm', async () => {
    await using world = await openTestWorld();
    await withNodes(world, later);
    const { code, out } = await world.run('node', 'join-command', 'demo', '--kubelet');
    assert.equal(code, 0);
    assert.match(out, /^cat > \/etc\/kubernetes\/bootstrap-kubelet\.conf <<'EOF'\nkind: Config\nEOF$/m);
    assert.match(out, /^cat > \/etc\/kubernetes\/pki\/ca\.crt <<'EOF'\n-----BEGIN CERTIFICATE-----$/m);
    assert.match(out, /^cat > \/var\/lib\/kubelet\/config\.yaml <<'EOF'\nkind: KubeletConfiguration$/m);
    assert.match(out, /^exec kubelet \\\n {2}--bootstrap-kubeconfig=\/etc\/kubernetes\/bootstrap-kubelet\.conf \\$/m);
  });

  test('prints everything as data', async () => {
    await using world = await openTestWorld();
    await withNodes(world, later);
    const json = JSON.parse((await world.run('node', 'join-command', 'demo', '-o', 'json')).out);
    assert.equal(json.command, command);
    assert.equal(json.kubelet.files['/etc/kubernetes/pki/ca.crt'], data['ca.crt']);
    assert.equal(json.kubelet.command[0], 'kubelet');
    const yaml = parseYaml((await world.run('node', 'join-command', 'demo', '-o', 'yaml')).out).value;
    assert.deepEqual(yaml, json);
  });

  test('says how to enable nodes where they are disabled', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const { code, err } = await world.run('node', 'join-command', 'demo');
    assert.equal(code, 1);
    assert.match(err, /control plane "demo" does not accept nodes\n +to enable nodes: kubectl patch controlplane demo/);
  });

  test('says how to get another token when the token expired', async () => {
    await using world = await openTestWorld();
    await withNodes(world, '2020-01-01T00:00:00.000Z');
    const { code, err } = await world.run('node', 'join-command', 'demo');
    assert.equal(code, 1);
    assert.match(err, /expired at 2020-01-01T00:00:00\.000Z/);
    assert.match(err, /kubectl delete secret -n kplane-cp-demo controlplane-demo-join/);
  });

  test('refuses other actions, control planes and formats', async () => {
    await using world = await openTestWorld();
    assert.match((await world.run('node', 'leave', 'demo')).err, /"leave" is not an action of node/);
    assert.match((await world.run('node', 'join-command')).err, /node requires NAME/);
    assert.match((await world.run('node', 'join-command', 'none')).err, /there is no control plane "none"/);
    const both = await world.run('node', 'join-command', 'demo', '--kubelet', '-o', 'json');
    assert.match(both.err, /--kubelet and -o cannot be used together/);
  });
});
