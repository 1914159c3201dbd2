import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { storageVersionOf } from './discovery.ts';
import { readGoPackage } from './go-source.ts';
import { definition } from './notation.ts';
import type { Facts, PackageFacts } from './notation.ts';
import type { OpenApiSchema } from './open-api.ts';
import { readProto } from './proto-source.ts';

const goSource = `/*
A header.
*/

package v1

import (
	"example.org/ignored"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const GroupName = "example.org"

// +enum
type Mode string

const (
	// Fast is fast.
	Fast Mode = "Fast"
	Slow      = Mode("Slow")
)

type Names []string

// Thing is a thing.
type Thing struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	Inner \`json:",inline" protobuf:"bytes,3,opt,name=inner"\`
	Count *int32 \`json:"count,omitempty" protobuf:"varint,1,opt,name=count"\`
	Modes []Mode \`json:"modes" protobuf:"bytes,2,rep,name=modes,casttype=Mode" patchStrategy:"merge"\` // trailing
	Hidden string \`json:"-"\`
	All Names \`json:"all,omitempty,omitzero" protobuf:"bytes,4,opt,name=all"\`
}

type Inner struct {
	Labels map[string]string \`json:"labels,omitempty" protobuf:"bytes,1,rep,name=labels"\`
}
`;

const protoSource = `syntax = "proto2";
message Inner {
  // A comment.
  map<string, string> labels = 1;
}

message Names {
  repeated string items = 1;
}

message Thing {
  optional int32 count = 1;

  repeated string modes = 2;

  optional Inner inner = 3;

  optional Names all = 4;
}
`;

const folder = await mkdtemp(join(tmpdir(), 'hangar-generate-'));
after(() => rm(folder, { recursive: true, force: true }));

async function factsOf(proto = protoSource): Promise<{ facts: Facts; home: PackageFacts }> {
  await writeFile(join(folder, 'types.go'), goSource);
  await writeFile(join(folder, 'generated.proto'), proto);
  const api = { id: 'example/v1', importPath: 'example.org/v1', folder, openApi: 'org.example.v1' };
  const home = { api, go: await readGoPackage(folder), proto: await readProto(folder) };
  const schema: OpenApiSchema = {
    required: ['modes'],
    'x-kubernetes-map-type': 'atomic',
    properties: {
      count: { default: 7 },
      modes: { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'] },
      labels: { 'x-kubernetes-map-type': 'granular' },
    },
  };
  return {
    facts: { packages: new Map([['example/v1', home]]), openApi: new Map([['org.example.v1.Thing', schema]]) },
    home,
  };
}

test('a struct is written with everything that its three sources say', async () => {
  const { facts, home } = await factsOf();
  const used: string[] = [];
  assert.equal(
    definition(facts, home, 'Thing', (id) => used.push(id)),
    '@kind @atomic; 3 Inner ^;count 1 *int32 ? D=7;modes 2 []Mode ! L=map:a,b P=merge;all 4 Names ?z',
  );
  assert.deepEqual(used, ['example/v1.Inner', 'example/v1.Mode', 'example/v1.Names']);
});

test('an inlined struct learns from the struct that it is published in', async () => {
  const { facts, home } = await factsOf();
  assert.equal(
    definition(facts, home, 'Inner', () => {}),
    ';labels 1 {}string ? M=granular',
  );
});

test('named types say what they are, which values they have, and whether they are messages', async () => {
  const { facts, home } = await factsOf();
  assert.equal(
    definition(facts, home, 'Mode', () => {}),
    '=string Fast|Slow',
  );
  assert.equal(
    definition(facts, home, 'Names', () => {}),
    '~[]string',
  );
});

test('sources that disagree about a field end the generation', async () => {
  const { facts, home } = await factsOf(protoSource.replace('optional int32 count', 'optional int64 count'));
  assert.throws(() => definition(facts, home, 'Thing', () => {}), /Go says \*int32, generated.proto says int64/);
});

test('a field of unknown shape ends the generation', async () => {
  await writeFile(join(folder, 'types.go'), 'package v1\n\ntype A struct {\n\tB func() int `json:"b"`\n}\n');
  await assert.rejects(readGoPackage(folder), /does not understand/);
});

test('the storage version is found by its hash, or the generation ends', () => {
  const groups = [{ name: 'apps', versions: [{ name: 'v1', resources: [] }] }];
  const resource = { name: 'deployments', kind: 'Deployment', singularName: 'deployment', namespaced: true, verbs: [] };
  assert.equal(storageVersionOf({ ...resource, storageVersionHash: '8aSe+NMegvE=' }, groups), 'apps/v1');
  assert.equal(storageVersionOf(resource, groups), undefined);
  assert.throws(() => storageVersionOf({ ...resource, storageVersionHash: 'AAAA' }, groups), /no group-version/);
});
