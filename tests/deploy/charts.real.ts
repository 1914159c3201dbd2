/**
 * Validates charts and manifests: with Helm's own lint, and with a dry run of every object on a real kube-apiserver and on Hangar. Pods are
 * created from every pod template, in a namespace that enforces the restricted standard.
 */

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chartFolder, charts, helm, template } from '../../scripts/generate/manifests/render.ts';
import type { ChartName } from '../../scripts/generate/manifests/render.ts';
import { manifestsProblems } from '../../scripts/generate/manifests/files.ts';
import { readOperatorOptions } from '../../apps/platform/src/operator/options.ts';
import { readOptions } from '../../apps/platform/src/options/options.ts';
import { controllerManagerRules, feedRules } from '../../apps/controller-manager/src/rbac.ts';
import type { ControllerManagerRules } from '../../apps/controller-manager/src/rbac.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { startHangar, startReal } from '../conformance/servers/index.ts';
import type { ControlPlane } from '../conformance/servers/index.ts';
import { objectsOf, podTemplates, root, version } from './testing/files.ts';
import type { Data } from './testing/files.ts';
import { readManagerOptions } from './testing/manager-options.ts';
import { restrictedProblems } from './testing/rules.ts';

const values = join(root, 'tests/deploy/values');
const sets: readonly (readonly [chart: ChartName, name: string])[] = [
  ['hangar', ''],
  ['hangar', 'hangar-trial'],
  ['hangar', 'hangar-everything'],
  ['hangar', 'hangar-nothing'],
  ['hangar-operator', ''],
  ['hangar-operator', 'hangar-operator-everything'],
  ['hangar-controller-manager', ''],
  ['hangar-controller-manager', 'hangar-controller-manager-everything'],
  ['hangar-controller-manager', 'hangar-controller-manager-narrow'],
];
const valuesOf = (name: string): string[] => (name === '' ? [] : [`--values=${values}/${name}.yaml`]);

const leaseNamespace = 'hangar-system';
/** Values of the controller manager's chart, and the permissions that they require. */
const managerModes = {
  'by default': {
    values: {},
    rules: controllerManagerRules({ engine: 'kube', leaseNamespace }),
  },
  'whatever the engine will be': {
    values: { engine: 'auto', 'feed.kubeconfigSecret.name': 'hangar' },
    rules: controllerManagerRules({ leaseNamespace }),
  },
  'for tenants of this very Hangar': {
    values: { engine: 'essential', clusterSource: 'controlplaneendpoint' },
    rules: withFeed(controllerManagerRules({ source: 'controlplaneendpoint', engine: 'essential', leaseNamespace })),
  },
  'for Secrets that are known by name': {
    values: { secretNames: ['one', 'two'] },
    rules: controllerManagerRules({ engine: 'kube', secretNames: ['one', 'two'], leaseNamespace }),
  },
  'for Secrets of another namespace': {
    values: { clusterNamespaceScope: 'fleet', secretNames: ['one'], leaseNamespace: 'leases' },
    rules: controllerManagerRules({
      engine: 'kube',
      namespaceScope: 'fleet',
      secretNames: ['one'],
      leaseNamespace: 'leases',
    }),
  },
  'for Secrets of its own namespace': {
    values: { clusterNamespaceScope: leaseNamespace },
    rules: controllerManagerRules({ engine: 'kube', namespaceScope: leaseNamespace, leaseNamespace }),
  },
};

let folder: string;
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'hangar-charts-'))));
after(() => rm(folder, { recursive: true, force: true }));

const rendered = new Map<string, Promise<string>>();
const render = (chart: ChartName, name: string): Promise<string> => {
  const key = `${chart} ${name}`;
  const found = rendered.get(key) ?? template(chart, ...valuesOf(name));
  rendered.set(key, found);
  return found;
};

describe('charts', () => {
  for (const [chart, name] of sets) {
    test(`${chart} is without fault to Helm, and right to itself, with ${name || 'its own values'}`, async () => {
      await helm('lint', '--strict', '--quiet', chartFolder(chart), ...valuesOf(name));
      const objects = objectsOf(await render(chart, name));
      for (const { of, spec } of podTemplates(objects)) assert.deepEqual(restrictedProblems(spec), [], of);
      await checkFlags(objects);
    });
  }

  test('the platform has its own address for itself, whatever users are told', async () => {
    const objects = objectsOf(await render('hangar', 'hangar-everything'));
    const config = objectsOf(objects.find(({ kind }) => kind === 'ConfigMap').data['hangar.yaml'])[0];
    assert.equal(config['internal-url'], 'https://planes.hangar-system.svc:8443');
    assert.equal(config['external-url'], 'https://planes.example.com:8443');
    assert.equal(config['advertise-address'], '10.0.0.77');
    const route = objects.find(({ kind }) => kind === 'TLSRoute');
    assert.deepEqual(route.spec.hostnames, ['planes.example.com']);
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
    const ports = policy.spec.egress.flatMap((rule: Data) => rule.ports.map(({ port }: Data) => port));
    assert.deepEqual(ports, [53, 53, 2379, 2479]);
  });

  for (const [title, { values: given, rules }] of Object.entries(managerModes)) {
    test(`the controller manager has the rights that its source asks for ${title}, and no others`, async () => {
      const set = Object.entries(given).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`);
      const objects = objectsOf(await template('hangar-controller-manager', '--show-only=templates/rbac.yaml', ...set));
      const { everywhere, byNamespace } = rules;
      const role = objects.find(({ kind }) => kind === 'ClusterRole');
      assert.deepEqual(role.rules, everywhere);
      const inNamespaces: Record<string, unknown[]> = {};
      for (const { metadata, rules: own } of objects.filter(({ kind }) => kind === 'Role')) {
        (inNamespaces[metadata.namespace] ??= []).unshift(...own);
      }
      assert.deepEqual(inNamespaces, byNamespace);
      const bound = objects.filter(({ kind }) => kind.endsWith('Binding'));
      assert.equal(bound.length * 2, objects.length);
      for (const { metadata, roleRef, subjects } of bound) {
        assert.ok(objects.some((one) => one.kind === roleRef.kind && one.metadata.name === roleRef.name));
        assert.equal(metadata.name, roleRef.name);
        assert.deepEqual(subjects, [
          { kind: 'ServiceAccount', name: 'hangar-controller-manager', namespace: 'hangar-system' },
        ]);
      }
    });
  }

  test('the controller manager has no rights and no token here when clusters are registered elsewhere', async () => {
    const objects = objectsOf(
      await template('hangar-controller-manager', '--set=management.kubeconfigSecret.name=management'),
    );
    assert.ok(!objects.some(({ apiVersion }) => apiVersion.startsWith('rbac.')));
    const { spec } = podTemplates(objects)[0]!;
    assert.equal(spec.automountServiceAccountToken, false);
    assert.ok(spec.containers[0].args.includes('--leader-elect-resource-namespace=kube-system'));
  });

  test('Prometheus is given what the controller manager asks for, and verifies what can be verified', async () => {
    const chart = 'hangar-controller-manager';
    const [everything, narrow] = await Promise.all(
      ['everything', 'narrow'].map(async (set) => objectsOf(await render(chart, `${chart}-${set}`))),
    );
    const endpointIn = (objects: readonly Data[]): Data =>
      objects.find(({ kind }) => kind === 'ServiceMonitor').spec.endpoints[0];
    const { authorization, tlsConfig } = endpointIn(everything!);
    assert.deepEqual(authorization.credentials, { name: 'metrics-token', key: 'value' });
    assert.deepEqual(tlsConfig, {
      ca: { secret: { name: 'fleet-tls', key: 'ca.crt' } },
      serverName: `${everything!.find(({ kind }) => kind === 'Service').metadata.name}.hangar-system.svc`,
    });
    const [pod, small] = [everything!, narrow!].map((objects) => podTemplates(objects)[0]!.spec);
    const files = new Map(pod.volumes.map(({ name, secret }: Data) => [name, secret]));
    for (const name of ['management', 'feed', 'metrics', 'tls']) {
      assert.equal((files.get(name) as Data).defaultMode, 0o440, name);
    }
    assert.deepEqual(endpointIn(narrow!).tlsConfig, { insecureSkipVerify: true });
    assert.equal(endpointIn(narrow!).authorization, undefined);
    assert.deepEqual(narrow!.find(({ kind }) => kind === 'NetworkPolicy').spec.ingress, []);
    assert.equal(small.containers[0].image, `hangar:${version}`, 'it needs no program of Kubernetes');
  });

  test('values that nobody meant are refused, with their name', async () => {
    for (const [chart, given, problem] of [
      ['hangar', 'replica=3', /additional properties 'replica'/],
      ['hangar', 'replicas=0', /\/replicas/],
      ['hangar', 'externalUrl=http://plain.example.com', /\/externalUrl/],
      ['hangar', 'etcd.endpoints=null', /etcd\.endpoints: where is etcd\?/],
      ['hangar', 'etcd.endpoints[0]=etcd:2379', /\/etcd\/endpoints\/0/],
      ['hangar', 'etcd.enabled=true', /etcd\.image\.repository: which image/],
      ['hangar', 'config.help=true', /propertyName 'help'/],
      ['hangar', 'gateway.enabled=true', /gateway\.parentRefs: which Gateway\?/],
      ['hangar-operator', 'hangar.kubeconfigSecret.name=', /\/hangar\/kubeconfigSecret\/name/],
      ['hangar-controller-manager', 'engine=real', /\/engine/],
      ['hangar-controller-manager', 'clusterSource=endpoint', /\/clusterSource/],
      ['hangar-controller-manager', 'secretNames[0]=*', /\/secretNames\/0/],
      ['hangar-controller-manager', 'extraFlags[0]=v=2', /\/extraFlags\/0/],
      ['hangar-controller-manager', 'workDirSize=', /\/workDirSize/],
      // A number of this size would be written with an exponent.
      ['hangar-controller-manager', 'clusterMemoryLimit=1073741824', /\/clusterMemoryLimit/],
    ] as const) {
      await assert.rejects(template(chart, `--set=${given}`), problem, given);
    }
  });

  test('the plain manifests are the charts with their own values', async () => {
    assert.deepEqual(await manifestsProblems(), []);
    for (const chart of charts) {
      const built = await kubectl('kustomize', join(root, 'deploy/manifests', chart));
      assert.ok(objectsOf(built).length >= 8, chart);
    }
  });
});

for (const [name, start] of [
  ['a real kube-apiserver', () => startReal()],
  ['Hangar', () => startHangar()],
] as const) {
  describe(`${name} takes`, () => {
    let plane: ControlPlane;
    before(async () => {
      plane = await start();
      const apply = ['apply', '--server-side', `--kubeconfig=${plane.kubeconfig}`];
      await kubectl(...apply, `--filename=${root}deploy/manifests/hangar/namespace.yaml`);
      await kubectl(...apply, `--filename=${root}deploy/crds`, `--filename=${values}/foreign-kinds.yaml`);
      const established = [
        'wait',
        '--for=condition=Established',
        'customresourcedefinitions',
        '--all',
        '--timeout=30s',
      ];
      await kubectl(...established, `--kubeconfig=${plane.kubeconfig}`);
    });
    after(() => plane?.stop());

    const dryRun = async (...files: readonly string[]): Promise<string[]> => {
      const args = files.map((file) => `--filename=${file}`);
      const all = [
        'apply',
        '--server-side',
        '--dry-run=server',
        '--validate=strict',
        `--kubeconfig=${plane.kubeconfig}`,
      ];
      return (await kubectl(...all, ...args)).trim().split('\n');
    };
    const inFile = async (what: string, objects: readonly object[]): Promise<string> => {
      const file = join(folder, `${what}.json`);
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
      return file;
    };

    for (const [chart, set] of sets) {
      test(`every object of ${chart} with ${set || 'its own values'}, and the pods that they lead to`, async () => {
        const objects = objectsOf(await render(chart, set));
        assert.equal((await dryRun(await inFile('objects', objects))).length, objects.length);
        const pods = podTemplates(objects).map(({ metadata, spec }, at) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...metadata, name: `pod-${at}`, namespace: 'hangar-system' },
          spec: withClaims(spec),
        }));
        assert.equal((await dryRun(await inFile('pods', pods))).length, pods.length);
      });
    }

    test('the plain manifests by kustomize, rights that are given elsewhere, and the examples', async () => {
      for (const chart of charts) {
        const all = ['apply', '--server-side', '--dry-run=server', `--kubeconfig=${plane.kubeconfig}`];
        await kubectl(...all, `--kustomize=${root}deploy/manifests/${chart}`);
      }
      await kubectl('create', 'namespace', 'kplane-system', `--kubeconfig=${plane.kubeconfig}`);
      const examples = globSync('deploy/examples/*.yaml', { cwd: root }).map((file) => join(root, file));
      const rights = globSync('deploy/manifests/*-rights.yaml', { cwd: root }).map((file) => join(root, file));
      const told = await dryRun(...rights, ...examples);
      assert.equal(told.length, 13, told.join());
    });

    test('no pod that is less than restricted', async () => {
      const { spec } = podTemplates(objectsOf(await render('hangar', '')))[0]!;
      const metadata = { name: 'worse', namespace: 'hangar-system' };
      const worse = { ...spec, securityContext: { ...spec.securityContext, runAsNonRoot: false } };
      const file = await inFile('worse', [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: worse }]);
      await assert.rejects(dryRun(file), /violates PodSecurity "restricted/);
    });
  });
}

/** Adds the volumes of a StatefulSet's claims. */
const withClaims = (spec: Data): Data => {
  const volumes = spec.volumes ?? [];
  const known = new Set(volumes.map(({ name }: Data) => name));
  const mounted = spec.containers.flatMap(({ volumeMounts = [] }: Data) => volumeMounts.map(({ name }: Data) => name));
  const claimed = mounted.filter((name: string) => !known.has(name)).map((name: string) => ({ name, emptyDir: {} }));
  return { ...spec, volumes: [...volumes, ...claimed] };
};

function withFeed({ everywhere, byNamespace }: ControllerManagerRules): ControllerManagerRules {
  return { everywhere: [...everywhere, ...feedRules], byNamespace };
}

/** The programs themselves parse their flags. */
async function checkFlags(objects: readonly Data[]): Promise<void> {
  for (const { data } of objects.filter(({ kind, data }) => kind === 'ConfigMap' && data['hangar.yaml'])) {
    const file = join(folder, 'hangar.yaml');
    await writeFile(file, data['hangar.yaml']);
    assert.ok(typeof readOptions([`--config=${file}`]) === 'object');
  }
  for (const { spec } of podTemplates(objects)) {
    const [command, ...args] = spec.containers[0].args;
    if (command === 'operator') assert.ok(typeof readOperatorOptions(args) === 'object');
    if (command === 'controller-manager') assert.ok(typeof (await readManagerOptions(args)) === 'object');
  }
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, failure } = await run(await tool('kubectl'), args, { timeoutMs: 60_000 });
  assert.equal(failure, undefined, `kubectl ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}
