import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { ControlPlane, Secret, Tenant } from '../kinds.ts';
import { writeState } from '../local-nodes/state.ts';
import { makePlane } from '../testing/plain-operator.ts';
import { proxyCredentials } from './node/proxy-credentials.ts';
import { greeting } from './node/run.ts';
import { KeptOutput, openTestWorld } from '../testing/test-session.ts';

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

async function withNodes({ client }: World, expires: string, changes: Record<string, string> = {}): Promise<void> {
  await makePlane(client, 'demo');
  const nodes = { enabled: true, networks: ['10.0.0.0/8'] };
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { nodes } } });
  await client.create(Secret, {
    metadata: {
      namespace: 'kplane-cp-demo',
      name: 'controlplane-demo-join',
      annotations: { 'controlplane.kplane.dev/expires': expires },
    },
    data: Object.fromEntries(
      Object.entries({ ...data, ...changes }).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
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
    assert.match((await world.run('node', 'join-command')).err, /node join-command requires NAME: name of the control/);
    assert.match((await world.run('node', 'join-command', 'none')).err, /there is no control plane "none"/);
    const both = await world.run('node', 'join-command', 'demo', '--kubelet', '-o', 'json');
    assert.match(both.err, /--kubelet and -o cannot be used together/);
  });
});

describe('node run', () => {
  const programs = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'kubelet', 'kube-proxy', 'nft'];
  const plugins = ['bridge', 'host-local', 'loopback', 'portmap'];

  /** Returns the folder of programs that only exist. */
  async function installed({ folder }: World): Promise<string> {
    const bin = join(folder, 'bin');
    await mkdir(bin);
    for (const name of [...programs, ...plugins]) {
      await writeFile(join(bin, name), '');
      await chmod(join(bin, name), 0o755);
    }
    return bin;
  }

  test('--dry-run prints all files without credentials, and changes nothing', async () => {
    await using world = await openTestWorld();
    const bootstrap = `kind: Config\nusers: [{name: bootstrap, user: {token: ${data.token}}}]\n`;
    await withNodes(world, later, { 'discovery.kubeconfig': bootstrap });
    const bin = await installed(world);
    const { code, out } = await world.run(
      'node',
      'run',
      'demo',
      '--dry-run',
      '--bin-dirs',
      bin,
      '--pause-image',
      'p:1',
    );
    assert.equal(code, 0);
    const folder = join(world.folder, '.data/nodes/demo-1/files');
    for (const file of [
      'containerd/config.toml',
      'containerd/networks/10-pods.conflist',
      'kubelet-config/config.json',
      'kubelet-config/bootstrap.kubeconfig',
      'kubelet-config/client-ca.crt',
      'kubelet-config/resolv.conf',
      'kube-proxy/config.json',
      'kube-proxy/kubeconfig',
    ]) {
      assert.ok(out.includes(`\n# ${join(folder, file)}\n`), file);
    }
    assert.match(out, /^# node +demo-1 of control plane demo$/m);
    assert.match(out, /^# bridge +hgr[0-9a-f]{8}, address 10\.77\.\d+\.1$/m);
    assert.match(out, /sandbox = 'p:1'/);
    assert.ok(out.includes(`BinaryName = '${join(bin, 'runc')}'`));
    assert.match(out, /server: https:\/\/10\.1\.2\.3:7500/);
    assert.match(out, /token: REDACTED/);
    assert.ok(!out.includes(data.token));
    assert.ok(!existsSync(join(world.folder, '.data/nodes')));
  });

  test('lists everything that the machine lacks, and creates nothing', async () => {
    await using world = await openTestWorld();
    await withNodes(world, later);
    const { code, err } = await world.runIn({ env: {} }, 'node', 'run', 'demo');
    assert.equal(code, 1);
    assert.match(err, /this machine cannot run a node\. Missing:\n- /);
    assert.ok(!existsSync(join(world.folder, '.data/nodes')));
  });

  test('prints the command that enables nodes with the networks of this machine', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const { code, err } = await world.run('node', 'run', 'demo');
    assert.equal(code, 1);
    assert.match(err, /control plane "demo" does not accept nodes/);
    assert.match(
      err,
      /kubectl patch controlplane demo --type merge -p '.*"enabled":true,"networks":\["10\.77\.\d+\.0\/24"/,
    );
  });

  test('kube-proxy gets a client certificate that the CA of the control plane signs', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const plane = await world.client.get(ControlPlane, { name: 'demo' });
    const user = await proxyCredentials(world.client, plane, new AbortController().signal);
    const certificate = new X509Certificate(Buffer.from(user['client-certificate-data']!, 'base64'));
    assert.match(certificate.subject, /^CN=system:kube-proxy$/m);
    assert.match(Buffer.from(user['client-key-data']!, 'base64').toString(), /PRIVATE KEY/);
  });

  test('prints what to try, with the name of the node for pods that no scheduler assigns', () => {
    const plan = { name: 'demo-1', controlPlane: 'demo' };
    assert.match(greeting(plan, true), /^ {2}kubectl run web --image IMAGE$/m);
    const text = greeting(plan, false);
    assert.match(text, /^ {2}kubectl run web --image IMAGE --overrides '\{"spec":\{"nodeName":"demo-1"\}\}'$/m);
    assert.match(text, /no scheduler is registered for control plane demo/);
  });

  test('refuses a control plane at a loopback address', async () => {
    await using world = await openTestWorld();
    await withNodes(world, later, { endpoint: 'https://127.0.0.1:7500' });
    const { code, err } = await world.run('node', 'run', 'demo', '--dry-run');
    assert.equal(code, 1);
    assert.match(err, /nodes cannot reach control plane "demo" at https:\/\/127\.0\.0\.1:7500/);
    assert.match(err, /hangar up --listen 0\.0\.0\.0:6443/);
  });

  test('refuses invalid arguments before it connects', async () => {
    await using world = await openTestWorld();
    const cases: [words: string[], expected: RegExp][] = [
      [['run'], /node run requires NAME: name of the control plane/],
      [['run', 'demo', '--name', 'A_b'], /--name: "A_b" is not a valid node name/],
      [['run', 'demo', '--pause-image', "x'y"], /--pause-image: "x'y" is not an image/],
      [['run', 'demo', '--dry-run', '--foreground'], /--dry-run and --foreground cannot be used together/],
      [['run', 'demo', '--kubelet'], /--kubelet is not an option of node run/],
      [['join-command', 'demo', '--dry-run'], /--dry-run is not an option of node join-command/],
      [['list', 'demo'], /node list: unexpected argument "demo"/],
      [['stop'], /node stop requires NAME, the name of a node, or --all/],
      [['stop', 'demo-1', '--all'], /node stop requires NAME, the name of a node, or --all/],
      [['logs'], /node logs requires NAME: name of the node/],
      [['logs', 'demo-1', '--program', 'etcd'], /--program must be kubelet or containerd or kube-proxy or node/],
    ];
    for (const [words, expected] of cases) {
      const { code, err } = await world.run('node', ...words);
      assert.equal(code, 2, words.join(' '));
      assert.match(err, expected);
    }
  });
});

describe('nodes of this machine', () => {
  const state = (folder: string, name: string) => ({
    name,
    controlPlane: 'demo',
    folder: join(folder, '.data/nodes', name, 'files'),
    cgroup: `hangar-node-${name}`,
    bridge: 'hgr00000000',
    networkNumber: 3,
    index: 1,
    supervisor: { pid: process.pid, startTicks: '0' },
    startedAt: Date.now() - 60_000,
  });

  test('are listed with their state and addresses', async () => {
    await using world = await openTestWorld();
    assert.match(
      (await world.run('node', 'list')).err,
      /no nodes run on this machine\. To start one: hangar node run PLANE/,
    );
    await writeState(join(world.folder, '.data'), state(world.folder, 'demo-1'));
    const { out } = await world.run('node', 'list');
    assert.match(out, /^NAME +CONTROL PLANE +STATE +ADDRESS +PODS +PID +AGE$/m);
    assert.match(out, /^demo-1 +demo +Stopped +10\.77\.3\.12 +10\.82\.3\.0\/24 +\d+ +\S+$/m);
    const json = JSON.parse((await world.run('node', 'list', '-o', 'json')).out);
    assert.equal(json.nodes[0].state, 'Stopped');
  });

  test('have logs of each program', async () => {
    await using world = await openTestWorld();
    const one = state(world.folder, 'demo-1');
    await writeState(join(world.folder, '.data'), one);
    await mkdir(join(one.folder, 'logs'), { recursive: true });
    await writeFile(join(one.folder, 'logs/kubelet.log'), 'one\ntwo\nthree\n');
    const out = new KeptOutput();
    assert.equal((await world.runIn({ out }, 'node', 'logs', 'demo-1', '--tail', '2')).code, 0);
    assert.equal(Buffer.concat(out.bytes).toString(), 'two\nthree\n');
    const { code, err } = await world.run('node', 'logs', 'demo-1', '--program', 'containerd');
    assert.equal(code, 1);
    assert.match(err, /node "demo-1" has no log of containerd/);
  });

  test('that do not exist are reported', async () => {
    await using world = await openTestWorld();
    for (const action of ['logs', 'stop']) {
      const { code, err } = await world.run('node', action, 'demo-9');
      assert.equal(code, 1);
      assert.match(err, /there is no node "demo-9" on this machine/);
    }
    assert.equal((await world.run('node', 'stop', '--all')).out, 'no nodes run on this machine\n');
  });
});
