import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults } from '../../defaults/index.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import { workloadValidations } from './index.ts';
import { objects } from './testing/objects.ts';

/** Defaulted, and then changed. */
function made(name: string, change?: (spec: JsonObject, object: KubeObject) => void): KubeObject {
  const object = JSON.parse(JSON.stringify(objects[name])) as KubeObject;
  applyDefaults(object);
  change?.(object['spec'] as JsonObject, object);
  return object;
}

const validationOf = ({ apiVersion, kind }: KubeObject) => workloadValidations[`${apiVersion}/${kind}`]!;
const created = (object: KubeObject): string[] => validationOf(object).create(object).map(fieldErrorText);
const updated = (object: KubeObject, old: KubeObject, subresource = ''): string[] =>
  validationOf(object).update(object, old, subresource).map(fieldErrorText);

test('workloads that use most of their kinds are valid', () => {
  for (const name of Object.keys(objects)) {
    // The selector of a Job is made by the server, from its uid.
    if (name !== 'job') assert.deepEqual(created(made(name)), [], name);
  }
});

test('errors come in the order in which the server looks', () => {
  const pod = made('smallPod', (spec) => {
    spec['containers'] = [{ image: 'a', imagePullPolicy: 'Odd' }];
    spec['dnsPolicy'] = 'Odd';
  });
  assert.deepEqual(created(pod), [
    'spec.containers[0].name: Required value',
    'spec.containers[0].terminationMessagePolicy: Required value',
    'spec.containers[0].imagePullPolicy: Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"',
    'spec.dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
  ]);
});

test('the image of a pod may change, its command may not', () => {
  const old = made('smallPod');
  const change = (field: JsonObject): KubeObject =>
    made('smallPod', (spec) => Object.assign((spec['containers'] as JsonObject[])[0]!, field));
  assert.deepEqual(updated(change({ image: 'b' }), old), []);
  const [error = '', ...others] = updated(change({ command: ['b'] }), old);
  assert.deepEqual(others, []);
  assert.match(
    error,
    /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`,/,
  );
  assert.match(error, /\n- {3}"Command": null,\n\+ {3}"Command": \[\n\+ {4}"b"\n\+ {3}\],\n/);
});

test('a selector is immutable', () => {
  const changed = made('deployment', (spec, object) => {
    spec['selector'] = { matchLabels: { app: 'a' } };
    object.metadata.name = 'deployment';
  });
  assert.deepEqual(updated(changed, made('deployment')), [
    'spec.selector: Invalid value: {"matchLabels":{"app":"a"}}: field is immutable',
  ]);
});

test('what was stored before a rule stays updatable', () => {
  const withSysctl = (value: string): KubeObject =>
    made('deployment', (spec) => {
      const pod = (spec['template'] as JsonObject)['spec'] as JsonObject;
      pod['hostNetwork'] = true;
      pod['securityContext'] = { sysctls: [{ name: 'net.a', value }] };
    });
  const refused = 'spec.template.spec.securityContext.sysctls[0].name: Invalid value: "net.a": ';
  assert.deepEqual(created(withSysctl('1')), [`${refused}may not be specified when 'hostNetwork' is true`]);
  assert.deepEqual(updated(withSysctl('2'), withSysctl('1')), []);
});

test('null is absent, also in lists', () => {
  const pod = made('smallPod', (spec) => {
    spec['nodeSelector'] = null;
    spec['dnsConfig'] = { searches: [null] };
    spec['containers'] = [null];
  });
  assert.deepEqual(created(pod).slice(0, 2), [
    'spec.containers[0].name: Required value',
    'spec.containers[0].image: Required value',
  ]);
});

test('keys that JavaScript gives a meaning are ordinary', () => {
  const limits = JSON.parse('{"__proto__":"1","constructor":"1"}') as JsonObject;
  const pod = made('smallPod', (spec) => {
    (spec['containers'] as JsonObject[])[0]!['resources'] = { limits };
  });
  const errors = created(pod);
  assert.equal(errors.filter((text) => text.includes('limits[__proto__]')).length, 2);
  assert.equal(errors.filter((text) => text.includes('limits[constructor]')).length, 2);
});

test('old ways are warned of when something is created', () => {
  const pod = made('smallPod', (spec) => {
    spec['volumes'] = [{ name: 'a', gitRepo: { repository: 'a' } }];
  });
  const { warnings } = validationOf(pod);
  assert.deepEqual(warnings!(pod, undefined), [
    'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
  ]);
  assert.deepEqual(warnings!(pod, pod), []);
});
