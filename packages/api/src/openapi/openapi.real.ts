/** OpenAPI documents against those of a real kube-apiserver that serves the same definitions. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { builtinServedGroups } from '../discovery/index.ts';
import { servedGroupsOf } from '../discovery/testing/definitions.ts';
import { sampleDefinitions } from '../discovery/testing/samples.ts';
import { serveSamples } from '../discovery/testing/serve-samples.ts';
import type { JsonObject } from '../object.ts';
import type { RealServer } from '../testing/real-server.ts';
import { openApiV2, openApiV2Protobuf, openApiV2ProtobufMediaType, openApiV3Root, openApiV3Sources } from './index.ts';
import { normalForm, withoutSharedParameters } from './testing/normal-form.ts';
import { wireDifference } from './testing/wire-difference.ts';

const groups = [...builtinServedGroups(), ...servedGroupsOf(sampleDefinitions)];

let server: RealServer;
before(async () => {
  server = await serveSamples();
});
after(async () => server?.[Symbol.asyncDispose]());

async function published(path: string): Promise<JsonObject> {
  const { status, body } = await server.request('GET', path);
  assert.equal(status, 200, body.toString());
  return JSON.parse(body.toString()) as JsonObject;
}

test('version 3: the same documents with the same paths, operations, parameters and schemas', async () => {
  const sources = openApiV3Sources(groups);
  const root = (await published('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
  assert.deepEqual(Object.keys(openApiV3Root(sources)['paths'] as object), Object.keys(root.paths));
  for (const [path, source] of sources) {
    const theirs = await published(root.paths[path]!.serverRelativeURL);
    const ours = JSON.parse(source.build().toString()) as JsonObject;
    assert.deepEqual(normalForm(ours), normalForm(theirs), path);
  }
});

test('version 3: custom kinds keep their own descriptions', async () => {
  const path = 'apis/example.org/v1';
  const described = (document: unknown): (string | undefined)[] => {
    const { schemas } = (document as { components: { schemas: Record<string, Described> } }).components;
    const widget = schemas['org.example.v1.Widget']!;
    const spec = widget.properties!['spec']!;
    return [widget.description, spec.description, spec.properties!['anything']!.description];
  };
  const ours = described(JSON.parse(openApiV3Sources(groups).get(path)!.build().toString()));
  assert.deepEqual(ours, ['A thing to play with.', 'What is wanted.', 'whatever']);
  assert.deepEqual(ours, described(await published(`/openapi/v3/${path}`)));
});

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

test('version 2: the same paths, operations, parameters and definitions', async () => {
  const ours = JSON.parse(JSON.stringify(openApiV2(groups))) as JsonObject;
  const theirs = await published('/openapi/v2');
  assert.deepEqual(normalForm(withoutSharedParameters(ours)), normalForm(withoutSharedParameters(theirs)));
});

test('version 2 in protobuf: the same message for the same document', async () => {
  const document = await published('/openapi/v2');
  const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  const { body, headers } = await server.request('GET', '/openapi/v2', { accept });
  assert.equal(headers['content-type'], openApiV2ProtobufMediaType);
  assert.equal(wireDifference(openApiV2Protobuf(document), body), undefined);
});
