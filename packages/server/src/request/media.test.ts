import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '@hangar/api';
import { cpuTime } from '@hangar/core/testing';
import { patchTypeOf, sentFormat, wanted } from './media.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const builtin = { hasProtobuf: true, allowsShapes: true };
const custom = { hasProtobuf: false, allowsShapes: true };

const codeOf = (action: () => unknown): number | undefined => {
  try {
    action();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return error.status.code;
  }
};

describe('what a client wants', () => {
  const table = 'as=Table;v=v1;g=meta.k8s.io';
  const cases: [accept: string | undefined, ofBuiltin: string, ofCustom: string][] = [
    [undefined, 'json', 'json'],
    ['', 'json', 'json'],
    ['*/*', 'json', 'json'],
    ['application/*', 'json', 'json'],
    ['application/json', 'json', 'json'],
    ['Application/JSON', 'json', 'json'],
    ['application/json; charset=utf-8', 'json', 'json'],
    ['application/yaml', 'yaml', 'yaml'],
    [protobuf, 'protobuf', '406'],
    [`${protobuf}, application/json`, 'protobuf', 'json'],
    [`${protobuf},*/*`, 'protobuf', 'json'],
    ['application/json;q=0.5, application/yaml', 'yaml', 'yaml'],
    ['application/json;q=0.5,application/yaml;q=0.4', 'json', 'json'],
    [`text/html, application/xhtml+xml, image/jxr, */*`, 'json', 'json'],
    [`application/json;${table}`, 'json Table v1', 'json Table v1'],
    [`application/json;as=Table;v=v1beta1;g=meta.k8s.io`, 'json Table v1beta1', 'json Table v1beta1'],
    [`application/json;as="Table";v="v1";g="meta.k8s.io"`, 'json Table v1', 'json Table v1'],
    [
      `application/json;${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
      'json Table v1',
      'json Table v1',
    ],
    [`application/json;as=Table;v=v2;g=meta.k8s.io,application/json`, 'json', 'json'],
    [`application/json;as=Chair;v=v1;g=meta.k8s.io`, '406', '406'],
    [`application/json;as=Table;v=v1;g=elsewhere`, '406', '406'],
    [`application/json;as=__proto__;v=v1;g=meta.k8s.io`, '406', '406'],
    [
      `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`,
      'protobuf PartialObjectMetadata v1',
      'protobuf PartialObjectMetadata v1',
    ],
    [
      'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io',
      'json PartialObjectMetadataList v1beta1',
      'json PartialObjectMetadataList v1beta1',
    ],
    ['text/plain', '406', '406'],
    ['constructor', '406', '406'],
    ['__proto__', '406', '406'],
    [',,;;', '406', '406'],
  ];
  for (const [accept, ...expected] of cases) {
    test(`${accept ?? 'nothing'} is ${expected.join(', for custom resources ')}`, () => {
      const found = [builtin, custom].map((options) => {
        const code = codeOf(() => wanted(accept, options));
        if (code !== undefined) return String(code);
        const { format, shape, shapeVersion, contentType } = wanted(accept, options);
        assert.equal(contentType, { json: 'application/json', yaml: 'application/yaml', protobuf }[format]);
        return [format, shape, shapeVersion].filter(Boolean).join(' ');
      });
      assert.deepEqual(found, expected);
    });
  }

  test('shapes are refused where there are none', () => {
    assert.equal(
      codeOf(() => wanted(`application/json;${table}`, { hasProtobuf: true, allowsShapes: false })),
      406,
    );
  });

  test('a header of a million clauses is read in no time', () => {
    const takenMs = cpuTime();
    assert.equal(
      codeOf(() => wanted('a/b;q=0.1,'.repeat(6_000), builtin)),
      406,
    );
    assert.ok(takenMs() < 2_000);
  });
});

test('what a client sends is JSON, YAML or, for built-in kinds, protobuf', () => {
  const cases: [contentType: string | undefined, ofBuiltin: string, ofCustom: string][] = [
    [undefined, 'json', 'json'],
    ['', 'json', 'json'],
    ['application/json', 'json', 'json'],
    ['application/json; charset=utf-8', 'json', 'json'],
    ['APPLICATION/YAML', 'yaml', 'yaml'],
    [protobuf, 'protobuf', '415'],
    ['text/plain', '415', '415'],
    ['application/json, application/yaml', '415', '415'],
    ['constructor', '415', '415'],
  ];
  for (const [contentType, ...expected] of cases) {
    const found = [true, false].map((hasProtobuf) =>
      String(codeOf(() => sentFormat(contentType, hasProtobuf)) ?? sentFormat(contentType, hasProtobuf)),
    );
    assert.deepEqual(found, expected, String(contentType));
  }
});

test('a patch says what it is, and custom resources know no strategic merge', () => {
  const cases: [contentType: string | undefined, ofBuiltin: string, ofCustom: string][] = [
    ['application/json-patch+json', 'json', 'json'],
    ['application/merge-patch+json; charset=utf-8', 'merge', 'merge'],
    ['application/strategic-merge-patch+json', 'strategic', '415'],
    ['application/apply-patch+yaml', 'apply', 'apply'],
    ['application/json', '415', '415'],
    [undefined, '415', '415'],
    ['toString', '415', '415'],
  ];
  for (const [contentType, ...expected] of cases) {
    const found = [true, false].map((strategic) =>
      String(codeOf(() => patchTypeOf(contentType, strategic)) ?? patchTypeOf(contentType, strategic)),
    );
    assert.deepEqual(found, expected, String(contentType));
  }
});
