/**
 * Rules for everything in `deploy/`, checked without Helm and without a cluster: the plain manifests are the charts with their default
 * values. `charts.real.ts` uses other values and real servers.
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { endOverheadMs } from '../../apps/controller-manager/src/main.ts';
import { readOperatorOptions } from '../../apps/platform/src/operator/options.ts';
import { readOptions } from '../../apps/platform/src/options/options.ts';
import { newPki } from '../../apps/platform/src/pki/shared-pki.ts';
import { definitions } from '../../operators/controlplane/src/api/generated/index.ts';
import { controllerManagerRules, feedRules } from '../../apps/controller-manager/src/rbac.ts';
import { electionRules, hostRules, operatorRules } from '../../operators/controlplane/src/rbac.ts';
import { charts } from '../../scripts/generate/manifests/render.ts';
import { byTemplate } from '../../scripts/generate/manifests/plain.ts';
import { chartProblems } from '../../scripts/generate/manifests/files.ts';
import { objectsIn, objectsOf, podTemplates, root, version } from './testing/files.ts';
import type { Data } from './testing/files.ts';
import { podName, readManagerOptions } from './testing/manager-options.ts';
import { isAsLocalAsWritten, restrictedProblems } from './testing/rules.ts';

const files = await objectsIn('deploy/{manifests,examples,crds,charts/*/crds}/**/*.yaml');
const manifests = await objectsIn('deploy/manifests/*/*.yaml');
const all = [...manifests].filter(([path]) => !path.endsWith('kustomization.yaml')).flatMap(([, objects]) => objects);
const find = (kind: string, name: string): Data => {
  const found = all.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
};
const pods = podTemplates(all);
const yamlOf = async (path: string): Promise<Data> => objectsOf(await readFile(join(root, path), 'utf8'))[0];

describe('deploy', () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  test('every file is YAML with whole objects, each there once', () => {
    assert.ok(files.size > 25, `${files.size} files`);
    for (const [path, objects] of files) {
      assert.ok(objects.length > 0, path);
      for (const { apiVersion, kind, metadata } of objects) {
        assert.ok(apiVersion && kind, path);
        if (kind !== 'Kustomization') assert.ok(metadata?.name, `${path}: ${kind}`);
      }
    }
    for (const chart of charts) {
      const own = [...manifests].filter(([path]) => path.startsWith(`deploy/manifests/${chart}/`));
      const names = own.flatMap(([, objects]) => objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`));
      assert.deepEqual(names, [...new Set(names)]);
    }
  });

  test('a kustomization names every file beside it', async () => {
    for (const [path, [kustomization]] of manifests) {
      if (!path.endsWith('kustomization.yaml')) continue;
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const beside = [...manifests.keys()].filter((one) => one.startsWith(folder) && one !== path);
      assert.deepEqual(kustomization.resources.toSorted(), beside.map((one) => one.slice(folder.length)).sort());
    }
  });

  test('charts and images have the version of the package', async () => {
    for (const chart of charts) {
      const { version: own, appVersion, name } = await yamlOf(`deploy/charts/${chart}/Chart.yaml`);
      assert.deepEqual([own, appVersion, name], [version, version, chart]);
    }
    for (const { of, spec } of pods) {
      const image = of === 'StatefulSet hangar-controller-manager' ? 'hangar-controller-manager' : 'hangar';
      assert.deepEqual(imagesOf(spec), [`${image}:${version}`], of);
    }
  });

  test('definitions of the chart, of deploy/crds and of the operator are the same', async () => {
    assert.deepEqual(await chartProblems(), []);
    const asText = (objects: readonly unknown[]): string[] => objects.map((one) => JSON.stringify(one)).sort();
    const plain = all.filter(({ kind }) => kind === 'CustomResourceDefinition');
    assert.deepEqual(asText(plain), asText(definitions));
  });

  test('roles are what the sources say', async () => {
    assert.deepEqual(find('ClusterRole', 'hangar-operator').rules, operatorRules);
    assert.deepEqual(find('Role', 'hangar-operator').rules, electionRules);
    const [role, binding] = files.get('deploy/manifests/tenants-rights.yaml')!;
    assert.deepEqual(role.rules, hostRules);
    assert.deepEqual(binding.subjects, [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'hangar-operator' },
    ]);
    const manager = controllerManagerRules({ engine: 'kube', leaseNamespace: 'hangar-system' });
    assert.deepEqual(find('ClusterRole', 'hangar-controller-manager').rules, manager.everywhere);
    assert.deepEqual(find('Role', 'hangar-controller-manager').rules, manager.byNamespace['hangar-system']);
    // Nothing else has permissions, except the Job that creates keys, which cannot read any.
    const roles = all.filter(({ kind }) => kind.endsWith('Role')).map(({ metadata }) => metadata.name);
    assert.deepEqual([...new Set(roles)].sort(), ['hangar-controller-manager', 'hangar-operator', 'hangar-pki']);
    assert.deepEqual(find('Role', 'hangar-pki').rules, [
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ]);
    for (const binding of all.filter(({ kind }) => kind.endsWith('RoleBinding'))) {
      const [{ name }] = binding.subjects;
      assert.ok(find('ServiceAccount', name));
      assert.ok(find(binding.roleRef.kind, binding.roleRef.name));
    }
  });

  test('the controller manager has the same rights where it is a user of another cluster', () => {
    const [clusterRole, clusterBinding, role, binding, ...more] = files.get(
      'deploy/manifests/controller-manager-rights.yaml',
    )!;
    assert.equal(more.length, 0);
    const { everywhere, byNamespace } = controllerManagerRules({ leaseNamespace: role.metadata.namespace });
    assert.deepEqual(clusterRole.rules, [...everywhere, ...feedRules]);
    assert.deepEqual({ [role.metadata.namespace]: role.rules }, byNamespace);
    for (const [{ roleRef, subjects }, of] of [
      [clusterBinding, clusterRole],
      [binding, role],
    ]) {
      assert.deepEqual([roleRef.kind, roleRef.name], [of.kind, of.metadata.name]);
      assert.deepEqual(
        subjects.map(({ kind, name }: Data) => `${kind} ${name}`),
        ['User hangar-controller-manager'],
      );
    }
  });

  test('every pod meets the restricted standard, has limits, and no token that it does not need', () => {
    assert.equal(pods.length, 4);
    for (const { of, spec } of pods) {
      assert.deepEqual(restrictedProblems(spec), [], of);
      for (const { resources, securityContext } of spec.containers) {
        assert.ok(resources.requests.cpu && resources.requests.memory && resources.limits.memory, of);
        assert.equal(securityContext.readOnlyRootFilesystem, true, of);
      }
      assert.equal(spec.enableServiceLinks, false, of);
      const usesTheCluster = spec.containers[0].args[0] !== 'up';
      assert.equal(spec.automountServiceAccountToken, usesTheCluster, of);
    }
    for (const { metadata } of all.filter(({ kind }) => kind === 'Namespace')) {
      assert.equal(metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted');
    }
  });

  test('the servers are told flags that exist, and files that are mounted', async () => {
    const { data } = find('ConfigMap', 'hangar');
    const folder = await mkdtemp(join(tmpdir(), 'hangar-deploy-'));
    folders.push(folder);
    const config = join(folder, 'hangar.yaml');
    await writeFile(config, data['hangar.yaml']);
    const options = readOptions([`--config=${config}`]);
    assert.ok(typeof options === 'object');
    assert.equal(options.store.type, 'etcd');
    assert.equal(options.services.electsLeader, true);
    assert.equal(options.services.makesDemo, false);
    assert.deepEqual([options.host, options.port], ['0.0.0.0', 6443]);
    const { spec } = find('Deployment', 'hangar').spec.template;
    const [container] = spec.containers;
    assert.deepEqual(container.args, ['up', '--config=/etc/hangar/config/hangar.yaml']);
    const named = data['hangar.yaml'].match(/\/(etc|var)\/\S+/g);
    assert.ok(named.length >= 6);
    for (const file of named) assert.ok(mountOf(container, file), `${file} is not mounted`);
    for (const { mountPath, readOnly } of container.volumeMounts) {
      assert.equal(readOnly ?? false, mountPath !== '/var/lib/hangar', mountPath);
    }
    // The keys that are read from the Secret are those that `hangar pki` creates.
    const made = Object.keys(newPki({ clock: systemClock, random: systemRandom }));
    for (const file of named.filter((one: string) => one.startsWith('/etc/hangar/pki/'))) {
      assert.ok(made.includes(file.slice('/etc/hangar/pki/'.length)), file);
    }
    // Keys are readable by the group only: 0440.
    for (const { secret } of spec.volumes) if (secret) assert.equal(secret.defaultMode, 0o440);
  });

  test('the operator is told flags that exist', () => {
    const [container] = find('Deployment', 'hangar-operator').spec.template.spec.containers;
    const [command, ...args] = container.args;
    assert.equal(command, 'operator');
    const options = readOperatorOptions(args);
    assert.ok(typeof options === 'object');
    assert.equal(options.electsLeader, true);
    assert.equal(options.leaseNamespace, 'hangar-system');
    assert.ok(mountOf(container, options.tenantsKubeconfig!));
    assert.deepEqual(options.metrics, { host: '0.0.0.0', port: container.ports[0].containerPort });
  });

  test('the controller manager is told flags that exist, and who it is; it keeps what is secret in memory', async () => {
    const { spec } = find('StatefulSet', 'hangar-controller-manager').spec.template;
    const [container] = spec.containers;
    const [command, ...args] = container.args;
    assert.equal(command, 'controller-manager');
    const { sharing, engine, children, serving, clusters, kubeconfig } = await readManagerOptions(args);
    assert.equal(kubeconfig, undefined);
    assert.deepEqual([clusters.source, engine.name, sharing.electsLeader], ['registration', 'kube', true]);
    assert.deepEqual([sharing.peer, sharing.namespace], [podName, 'hangar-system']);
    assert.deepEqual(container.env, [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]);
    assert.deepEqual([serving.host, serving.port], ['0.0.0.0', container.ports[0].containerPort]);
    const volume = mountOf(container, children.workDirectory).name;
    const { emptyDir } = spec.volumes.find(({ name }: Data) => name === volume);
    assert.equal(emptyDir.medium, 'Memory');
    assert.ok(emptyDir.sizeLimit);
    // It exits by itself before it is killed.
    assert.ok(spec.terminationGracePeriodSeconds * 1000 >= sharing.timings.drainTimeoutMs + endOverheadMs + 5_000);
  });

  test('the controller manager is reached at its port alone, and may go anywhere', () => {
    const { spec } = find('NetworkPolicy', 'hangar-controller-manager');
    assert.deepEqual(spec.policyTypes, ['Ingress']);
    assert.deepEqual(spec.ingress, [
      { ports: [{ port: 'https', protocol: 'TCP' }], from: [{ namespaceSelector: {} }] },
    ]);
    const { spec: service } = find('Service', find('StatefulSet', 'hangar-controller-manager').spec.serviceName);
    assert.equal(service.clusterIP, 'None');
  });

  test('probes ask what is served, and a server is drained before it ends', () => {
    for (const { spec } of pods.filter(({ of }) => !of.startsWith('Job'))) {
      const [container] = spec.containers;
      const ports = new Set(container.ports.map(({ name }: Data) => name));
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        if (container[probe] === undefined) continue;
        const { path, port } = container[probe].httpGet;
        assert.equal(path, probe === 'readinessProbe' ? '/readyz' : '/livez');
        assert.ok(ports.has(port));
      }
      assert.ok(container.livenessProbe && container.readinessProbe);
    }
    const { spec } = find('Deployment', 'hangar').spec.template;
    const drainSeconds = spec.containers[0].lifecycle.preStop.sleep.seconds;
    // The server itself gives requests in progress 30 seconds.
    assert.ok(spec.terminationGracePeriodSeconds >= drainSeconds + 30);
  });

  test('selectors find their pods, and no others of the release', () => {
    let count = 0;
    for (const { kind, metadata, spec } of all) {
      const selector = spec?.podSelector ?? spec?.selector;
      if (selector === undefined) continue;
      const wanted = selector.matchLabels ?? selector;
      const found = pods.filter((pod) => matches(wanted, pod.metadata.labels)).map(({ of }) => of);
      const owner = metadata.name.replace(/-metrics$/, '');
      const workload = owner === 'hangar-controller-manager' ? 'StatefulSet' : 'Deployment';
      assert.deepEqual(found, [`${workload} ${owner}`], `${kind} ${metadata.name}`);
      count++;
    }
    assert.equal(count, 4 * charts.length);
  });

  test('the names under which the Service is reached are in the certificate', async () => {
    const config = objectsOf(find('ConfigMap', 'hangar').data['hangar.yaml'])[0];
    const service = find('Service', 'hangar');
    const { name, namespace } = service.metadata;
    for (const suffix of ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`]) {
      assert.ok(config.host.includes(`${name}${suffix}`));
    }
    for (const url of ['internal-url', 'external-url']) assert.equal(config[url], `https://${name}.${namespace}.svc`);
    assert.equal(service.spec.ports[0].port, 443);
  });

  test('examples name each other, and an addon is manifests', () => {
    const examples = [...files]
      .filter(([path]) => path.startsWith('deploy/examples/'))
      .flatMap(([, objects]) => objects);
    const has = (kind: string, name: string): boolean =>
      examples.some((object) => object.kind === kind && object.metadata.name === name);
    for (const { kind, spec } of examples) {
      if (kind !== 'ControlPlane') continue;
      assert.ok(has('ControlPlaneClass', spec.classRef.name));
      if (spec.endpointRef) assert.ok(has('ControlPlaneEndpoint', spec.endpointRef.name));
    }
    const addon = examples.find(({ kind }) => kind === 'ConfigMap');
    assert.equal(addon.metadata.namespace, 'kplane-system');
    for (const text of Object.values<string>(addon.data)) {
      for (const object of objectsOf(text)) assert.ok(object.apiVersion && object.kind && object.metadata.name);
    }
  });

  test('the guide names files that exist, and charts that it can install', async () => {
    const guide = await readFile(join(root, 'deploy/README.md'), 'utf8');
    const links = [...guide.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => join('deploy', path!));
    const commands = [...guide.matchAll(/(?<!\/)\bdeploy\/[\w./-]*\w/g)].map(([path]) => path);
    assert.ok(links.length > 10 && commands.length > 5);
    for (const path of [...links, ...commands]) assert.ok(existsSync(join(root, path)), path);
    assert.match(guide, new RegExp(`--tag hangar:${version} `));
  });

  test('nothing names a registry or a machine', () => {
    for (const [path, objects] of files) assert.ok(isAsLocalAsWritten(JSON.stringify(objects)), path);
  });
});

test('marks of a Helm release do not get into plain manifests, and annotations of others do', () => {
  const rendered = `---
# Source: chart/templates/a.yaml
metadata:
  name: a
  labels:
    helm.sh/chart: a-1
    app.kubernetes.io/managed-by: Helm
  annotations:
    helm.sh/hook: pre-install
spec: {}
---
# Source: chart/templates/b.yaml
metadata:
  annotations:
    helm.sh/hook: pre-install
    mine: kept
---
# Source: chart/templates/a.yaml
metadata: { name: second }
`;
  assert.deepEqual(
    byTemplate(rendered),
    new Map([
      ['a.yaml', 'metadata:\n  name: a\nspec: {}\n---\nmetadata: { name: second }\n'],
      ['b.yaml', 'metadata:\n  annotations:\n    mine: kept\n'],
    ]),
  );
});

const imagesOf = (spec: Data): string[] => spec.containers.map(({ image }: Data) => image);

const mountOf = ({ volumeMounts }: Data, file: string): Data =>
  volumeMounts.find(({ mountPath }: Data) => file === mountPath || file.startsWith(`${mountPath}/`));

const matches = (wanted: Data, labels: Data): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
