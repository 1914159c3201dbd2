import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise } from './normalise.ts';

const surroundings = { url: 'https://127.0.0.1:41234', folder: '/tmp/x/case-1' };

const alike: [what: string, one: string, other: string][] = [
  ['uids', 'uid: 0e0f4e41-4c8f-4f0a-8c8d-000000000001', 'uid: 0e0f4e41-4c8f-4f0a-8c8d-000000000002'],
  ['revisions in YAML', '  resourceVersion: "1"', '  resourceVersion: "4711"'],
  ['revisions in quoted JSON', String.raw`\"resourceVersion\":\"1\"`, String.raw`\"resourceVersion\":\"22\"`],
  ['times', 'creationTimestamp: "2026-01-01T00:00:00Z"', 'creationTimestamp: "2026-02-02T01:02:03Z"'],
  ['ages, and the padding beside them', 'NAME   AGE   X\na      9s    y\n', 'NAME   AGE     X\na      12m3s   y\n'],
  ["the management plane's own kind", 'pods\ntenants.tenancy.hangar.dev\nx\n', 'pods\nx\n'],
  ['generated names', 'configmap/gen-abcde created', 'configmap/gen-x9z8w created'],
  ['the order of JSON members', '{"a":{"b":1,"c":2}}\n', '{"a":{"c":2,"b":1}}\n'],
  ['the order of members in a stream', '{"a":1,"b":2}\n{"a":3,"b":4}\n', '{"b":2,"a":1}\n{"b":4,"a":3}\n'],
  ['cluster addresses', 'a   10.0.0.1   <none>\n', 'a   10.0.0.111   <none>\n'],
  [
    'the order of managers',
    '  managedFields:\n  - manager: b\n    time: x\n  - manager: a\n    time: y\n  name: n\n'.replaceAll(
      /x|y/g,
      '2026-01-01T00:00:00Z',
    ),
    '  managedFields:\n  - manager: a\n    time: x\n  - manager: b\n    time: x\n  name: n\n'.replaceAll(
      'x',
      '2026-01-01T00:00:00Z',
    ),
  ],
  [
    'the order of managers in JSON',
    '{"managedFields":[{"manager":"b"},{"manager":"a"}]}',
    '{"managedFields":[{"manager":"a"},{"manager":"b"}]}',
  ],
  [
    'how long a watch lasted that kubectl itself ended',
    'I1115 22:49:29.123456    1234 reflector.go:664] "Warning: watch ended" err="very short watch: x"\nerror: timed out\n',
    'error: timed out\n',
  ],
  [
    'Events of the repair of addresses',
    'IP:   10.0.0.1\nEvents:\n  Type     Reason                 Age   From  Message\n  ----     ------                 ----  ----  -------\n  Warning  ClusterIPNotAllocated  3s    ipallocator-repair-controller  Cluster IP [IPv4]: 10.0.0.1 is not allocated; repairing\n',
    'IP:   10.0.0.2\nEvents:   <none>\n',
  ],
  ['node ports', '80:30001/TCP', '80:32001/TCP'],
];
for (const [what, one, other] of alike) {
  test(`not compared: ${what}`, () => {
    assert.equal(normalise(one, surroundings), normalise(other, surroundings));
  });
}

const different: [what: string, one: string, other: string][] = [
  ['that a uid is there', 'uid: 0e0f4e41-4c8f-4f0a-8c8d-000000000001', 'uid: ""'],
  ['whether a time has fractions', '"2026-01-01T00:00:00Z"', '"2026-01-01T00:00:00.000000Z"'],
  ['numbers of other things', 'replicas: 3', 'replicas: 4'],
  ['durations of other things', 'timeout=1s', 'timeout=2s'],
  ['widths of columns', 'NAME   X\na      y\n', 'NAME  X\na     y\n'],
  ['indentation of JSON', '{"a":1}\n', '{\n  "a": 1\n}\n'],
  ['names', 'configmap/a created', 'configmap/b created'],
];
for (const [what, one, other] of different) {
  test(`compared: ${what}`, () => {
    assert.notEqual(normalise(one, surroundings), normalise(other, surroundings));
  });
}

test('the server and the folder have names', () => {
  const text = 'at https://127.0.0.1:41234/api, 192.0.2.2:41234, targetPort: 41234, "/tmp/x/case-1/a.yaml"';
  assert.equal(normalise(text, surroundings), 'at <server>/api, <server>, targetPort: <port>, "<folder>/a.yaml"');
});
