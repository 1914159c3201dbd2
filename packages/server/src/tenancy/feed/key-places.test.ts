import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHidden, KeyPlaces } from './key-places.ts';

const prefix = '/registry/clusters/red/';
const places = new KeyPlaces(({ resource }) => resource !== 'events');

const table: Readonly<Record<string, string | undefined>> = {
  'configmaps/default/a': 'configmaps. default/a',
  'namespaces/default': 'namespaces. /default',
  'services/specs/default/a': 'services. default/a',
  'services/endpoints/default/a': 'endpoints. default/a',
  'minions/n': 'nodes. /n',
  'controllers/default/rc': 'replicationcontrollers. default/rc',
  'deployments/default/a': 'deployments.apps default/a',
  'ingress/default/a': 'ingresses.networking.k8s.io default/a',
  'clusterroles/system:node': 'clusterroles.rbac.authorization.k8s.io /system:node',
  'apiextensions.k8s.io/customresourcedefinitions/widgets.example.com':
    'customresourcedefinitions.apiextensions.k8s.io /widgets.example.com',
  'apiregistration.k8s.io/apiservices/v1.apps': 'apiservices.apiregistration.k8s.io /v1.apps',
  'example.com/widgets/default/w': 'widgets.example.com default/w',
  'example.com/widgets/w': 'widgets.example.com /w',
  'apps.example.com/deployments/default/w': 'deployments.apps.example.com default/w',
  // Not wanted by the listener.
  'events/default/e': undefined,
  // Not objects.
  'ranges/servicenodeports': undefined,
  'masterleases/10.0.0.1': undefined,
  '.hangar/tenant': undefined,
  '.hangar/keys': undefined,
  '.hidden/namespaces/default': undefined,
  'configmaps/default/a/b': undefined,
  'configmaps/': undefined,
  configmaps: undefined,
  'services/specs': undefined,
  'services/unknown/default/a': undefined,
  'example.com/widgets': undefined,
  '': undefined,
};

for (const [rest, expected] of Object.entries(table)) {
  test(`${rest === '' ? 'an empty rest' : rest} is ${expected ?? 'no object that is wanted'}`, () => {
    const found = places.wanted(`${prefix}${rest}`, prefix.length);
    const text = found && `${found.place.resource}.${found.place.group} ${found.namespace}/${found.name}`;
    assert.equal(text, expected);
  });
}

test('what a listener wants is asked once for each resource', () => {
  const asked: string[] = [];
  const some = new KeyPlaces(({ group, resource }) => asked.push(`${resource}.${group}`) > 0);
  for (const name of ['a', 'b', 'c']) {
    some.wanted(`${prefix}configmaps/default/${name}`, prefix.length);
    some.wanted(`${prefix}example.com/widgets/${name}`, prefix.length);
  }
  assert.deepEqual(asked, ['configmaps.', 'widgets.example.com']);
});

test('a tombstone is told from what only looks like one', () => {
  assert.ok(isHidden(`${prefix}.hidden/namespaces/default`, prefix.length));
  assert.ok(!isHidden(`${prefix}.hiddenly/namespaces/default`, prefix.length));
  assert.ok(!isHidden(`${prefix}configmaps/.hidden/a`, prefix.length));
});
