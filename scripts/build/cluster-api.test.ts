import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYamlDocuments } from '../../packages/api/src/yaml/index.ts';
import { readOptions } from '../../apps/hosted-operator/src/options.ts';
import { clusterApiFiles } from './cluster-api.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
}

const files = clusterApiFiles({ version: '0.1.0', image: 'localhost/hangar:0.1.0' });
const components = parseYamlDocuments(files.get('control-plane-components.yaml')!) as Manifest[];
const ofKind = (kind: string): Manifest[] => components.filter((one) => one.kind === kind);

describe('the files of clusterctl', () => {
  test('the metadata has the release series of the version with its contract', () => {
    assert.deepEqual(parseYamlDocuments(files.get('metadata.yaml')!), [
      {
        apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
        kind: 'Metadata',
        releaseSeries: [{ major: 0, minor: 1, contract: 'v1beta2' }],
      },
    ]);
  });

  test('every object has the label of the provider', () => {
    for (const { kind, metadata } of components) {
      const label = metadata.labels?.['cluster.x-k8s.io/provider'];
      assert.equal(label, 'control-plane-hosted-control-plane', `${kind} ${metadata.name}`);
    }
  });

  test('the definitions have the labels of both contracts', () => {
    const all = ofKind('CustomResourceDefinition');
    const definitions = all.filter(({ metadata }) => metadata.name?.endsWith('.controlplane.cluster.x-k8s.io'));
    // The others are the kinds of backups.
    assert.deepEqual([definitions.length, all.length], [2, 5]);
    for (const { metadata } of definitions) {
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta1'], 'v1alpha1');
      assert.equal(metadata.labels?.['cluster.x-k8s.io/v1beta2'], 'v1alpha1');
    }
  });

  test('the core manager of Cluster API gets its rights by aggregation', () => {
    const roles = ofKind('ClusterRole').map(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/aggregate-to-manager'],
    );
    assert.deepEqual(roles, [undefined, 'true']);
  });

  test('the container is named manager, and its arguments are valid', () => {
    const [deployment] = ofKind('Deployment');
    const [container] = deployment!.spec!.template!.spec.containers;
    assert.equal(container!.name, 'manager');
    assert.equal(container!.image, 'localhost/hangar:0.1.0');
    const [command, ...args] = container!.args;
    assert.equal(command, 'hosted-operator');
    // clusterctl appends the flag.
    assert.equal(typeof readOptions([...args, '--namespace=team']), 'object');
  });
});
