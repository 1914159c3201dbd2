import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinGroups } from '../builtin/schemas.ts';
import { builtinFieldSelectors } from './builtin-fields.ts';
import { fieldSelectorFor, parseFieldSelector } from './field-selector.ts';

const pods = { apiVersion: 'v1', kind: 'Pod' };

test('a selector is parsed in the order of its terms', () => {
  const selector = parseFieldSelector('b!=x,a==1,,c=d\\,e\\=f\\\\');
  assert.deepEqual(selector.requirements, [
    { field: 'a', operator: '=', value: '1' },
    { field: 'b', operator: '!=', value: 'x' },
    { field: 'c', operator: '=', value: 'd,e=f\\' },
  ]);
  assert.equal(`${selector}`, 'a=1,b!=x,c=d\\,e\\=f\\\\');
});

const refusals: readonly [text: string, message: string][] = [
  ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
  ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
  ['metadata.name=\\', 'invalid field selector: invalid escape sequence: \\'],
  ['spec.x=1', 'field label not supported: spec.x'],
  ['__proto__=1', 'field label not supported: __proto__'],
];

for (const [text, message] of refusals) {
  test(`'${text}' is refused in the words of kube-apiserver`, () => {
    assert.throws(() => fieldSelectorFor(pods, text), { code: 'BadRequest', message });
  });
}

test('kinds without fields of their own are selected by name and namespace', () => {
  const selector = fieldSelectorFor({ apiVersion: 'v1', kind: 'ConfigMap' }, 'metadata.name=a,metadata.namespace!=b');
  assert.ok(selector.matches({ metadata: { name: 'a', namespace: 'c' } }));
  assert.ok(!selector.matches({ metadata: { name: 'a', namespace: 'b' } }));
  assert.throws(() => fieldSelectorFor({ apiVersion: 'v1', kind: 'ConfigMap' }, 'x=1'), {
    message: '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  });
});

test('an exact name or namespace is told', () => {
  const selector = fieldSelectorFor(pods, 'metadata.name=a,metadata.namespace=b');
  assert.deepEqual([selector.requiresName, selector.requiresNamespace], ['a', 'b']);
  const other = fieldSelectorFor(pods, 'metadata.name!=a,spec.nodeName=b');
  assert.deepEqual([other.requiresName, other.requiresNamespace], [undefined, undefined]);
});

test('an empty selector and empty terms select everything', () => {
  for (const text of ['', ',', '=', '!=,=']) assert.ok(fieldSelectorFor(pods, text).isEmpty);
});

const matching: readonly [apiVersion: string, kind: string, text: string, object: object][] = [
  ['v1', 'Pod', 'spec.hostNetwork=false,status.podIP=,status.podIPs=', {}],
  [
    'v1',
    'Pod',
    'spec.host=n,status.podIP=1.2.3.4',
    { spec: { nodeName: 'n' }, status: { podIPs: [{ ip: '1.2.3.4' }] } },
  ],
  ['v1', 'Node', 'spec.unschedulable=true', { spec: { unschedulable: true } }],
  [
    'v1',
    'Event',
    'source=kubelet,involvedObject.name=p',
    { source: { component: 'kubelet' }, involvedObject: { name: 'p' } },
  ],
  ['v1', 'Event', 'source=x', { reportingComponent: 'x' }],
  [
    'events.k8s.io/v1',
    'Event',
    'regarding.name=p,reportingController=x',
    { regarding: { name: 'p' }, reportingController: 'x' },
  ],
  ['batch/v1', 'Job', 'status.successful=0', {}],
  ['batch/v1', 'Job', 'status.successful=3', { status: { succeeded: 3 } }],
  ['v1', 'ReplicationController', 'status.replicas!=1', { status: { replicas: 2 } }],
];

for (const [apiVersion, kind, text, object] of matching) {
  test(`${kind} is selected by ${text}`, () => {
    assert.ok(fieldSelectorFor({ apiVersion, kind }, text).matches(object as Record<string, unknown>));
  });
}

test('every kind with fields of its own is built in', () => {
  const kinds = new Set(
    builtinGroups().flatMap(({ name, versions }) =>
      versions.flatMap((version) =>
        version.resources.map(({ kind }) => `${name === '' ? '' : `${name}/`}${version.name}/${kind}`),
      ),
    ),
  );
  assert.deepEqual(
    Object.keys(builtinFieldSelectors).filter((kind) => !kinds.has(kind)),
    [],
  );
});

test('custom resources are selected by the paths of their definition', () => {
  const selectableFields = ['.spec.color', ".spec['dotted.name']"];
  const custom = { apiVersion: 'example.com/v1', kind: 'Paint', selectableFields };
  const selects = (text: string, spec: object): boolean => fieldSelectorFor(custom, text).matches({ spec });
  assert.ok(selects('spec.color=red', { color: 'red' }));
  assert.ok(selects('spec.color=', {}));
  assert.ok(selects("spec['dotted.name']=1", { 'dotted.name': 1 }));
  assert.throws(() => selects('spec.shade=1', {}), { message: 'field label not supported: spec.shade' });
  assert.ok(fieldSelectorFor(custom, 'metadata.namespace=a').matches({ metadata: { namespace: 'a' } }));
  assert.throws(() => fieldSelectorFor({ ...custom, namespaced: false }, 'metadata.namespace=a'), {
    message: 'field label not supported: metadata.namespace',
  });
});
