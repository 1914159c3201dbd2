import assert from 'node:assert/strict';
import { test } from 'node:test';
import { structType } from '../../../builtin/types.ts';
import { prettyServerForm, serverForm } from './render.ts';
import { structs } from './structs.ts';
import { unifiedDiff } from './unified-diff.ts';

/** The API has these elsewhere. */
const moved: Readonly<Record<string, readonly string[]>> = {
  PodSecurityContext: ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers'],
  PodTemplateSpec: [],
};

const packages = ['core/v1', 'apps/v1', 'batch/v1'];

function propertiesOf(name: string): ReadonlySet<string> {
  for (const id of packages) {
    try {
      return new Set(structType(`${id}.${name}`).properties.keys());
    } catch {
      continue;
    }
  }
  throw new Error(`no struct ${name}`);
}

test('every field of the table has its value in the API', () => {
  for (const [name, fields] of Object.entries(structs)) {
    const properties = propertiesOf(name);
    for (const text of fields.split('; ')) {
      const [names = ''] = text.split(' ');
      if (names === '^') continue;
      const [field = '', jsonName = field[0]!.toLowerCase() + field.slice(1)] = names.split('=');
      assert.ok(properties.has(jsonName) || moved[name]?.includes(jsonName), `${name}.${jsonName}`);
    }
  }
});

test('a struct is shown with all its fields, and what is absent as null or zero', () => {
  assert.equal(
    serverForm('SeccompProfile', { type: 'Unconfined' }).text,
    '{"Type":"Unconfined","LocalhostProfile":null}',
  );
  assert.equal(serverForm('SeccompProfile', undefined).text, 'null');
  assert.equal(
    serverForm('Probe', { exec: { command: ['<a>'] } }).text,
    '{"Exec":{"Command":["\\u003ca\\u003e"]},"HTTPGet":null,"TCPSocket":null,"GRPC":null,"InitialDelaySeconds":0,' +
      '"TimeoutSeconds":0,"PeriodSeconds":0,"SuccessThreshold":0,"FailureThreshold":0,"TerminationGracePeriodSeconds":null}',
  );
});

test('the namespaces of the host are shown in the security context', () => {
  const text = prettyServerForm('PodSpec', { hostNetwork: true });
  assert.match(text, /"SecurityContext": \{\n {2}"HostNetwork": true,\n/);
});

test('differences have three lines of context', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].join('\n');
  const after = before.replace('d', 'x').replace('h', 'h\ni');
  assert.equal(unifiedDiff(before, before), '');
  assert.equal(unifiedDiff(before, after), '@@ -1,8 +1,9 @@\n a\n b\n c\n-d\n+x\n e\n f\n g\n h\n+i\n');
});

test('changes far from each other are apart', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
  const changed = lines.map((line, i) => (i === 2 || i === 25 ? 'new' : line));
  const text = unifiedDiff(lines.join('\n'), changed.join('\n'));
  assert.deepEqual(text.match(/^@@.*$/gm), ['@@ -1,6 +1,6 @@', '@@ -23,7 +23,7 @@']);
});
