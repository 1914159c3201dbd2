/** Real kubectls, the newest and an old one, read our documents and behave as with a real server. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { tool } from '../../../../tools/tool.ts';
import { builtinServedGroups } from '../discovery/index.ts';
import { servedGroupsOf } from '../discovery/testing/definitions.ts';
import { sampleDefinitions } from '../discovery/testing/samples.ts';
import type { JsonObject } from '../object.ts';
import { serveDocuments } from './testing/document-server.ts';
import type { DocumentServer } from './testing/document-server.ts';

const groups = [...builtinServedGroups(), ...servedGroupsOf(sampleDefinitions)];
const existing: JsonObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'there', namespace: 'default', resourceVersion: '1', uid: 'u' },
  data: { a: 'old' },
};

let folder: string;
let server: DocumentServer;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-openapi-'));
  server = await serveDocuments(groups, ({ method, url = '' }, body) => {
    if (/\/configmaps\/there(\?|$)/.test(url)) return existing;
    return method === 'POST' ? (JSON.parse(body) as JsonObject) : undefined;
  });
});
after(async () => {
  await server?.[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true, force: true });
});

let runs = 0;

/** Each run has its own cache: it requests everything that it needs. */
async function run(name: 'kubectl' | 'kubectl-1.32', ...args: string[]): Promise<string> {
  server.requests.length = 0;
  const common = [`--server=${server.url}`, `--cache-dir=${join(folder, `cache-${runs++}`)}`];
  const environment = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'none') };
  const { stdout } = await promisify(execFile)(await tool(name), [...common, ...args], {
    timeout: 30_000,
    env: environment,
  });
  return stdout;
}

async function manifest(object: JsonObject): Promise<string> {
  const path = join(folder, `manifest-${runs}.json`);
  await writeFile(path, JSON.stringify(object));
  return path;
}

const fieldsOf = (explanation: string): string[] =>
  explanation
    .slice(explanation.indexOf('FIELDS:') + 7)
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter(Boolean);

for (const name of ['kubectl', 'kubectl-1.32'] as const) {
  test(`${name} explains a built-in kind from version 3`, async () => {
    const fields = fieldsOf(await run(name, 'explain', 'pod.spec.containers', '--recursive'));
    for (const field of ['name <string> -required-', 'ports <[]ContainerPort>', 'limits <map[string]Quantity>']) {
      assert.ok(fields.includes(field), `${field} is not in ${fields.join('\n')}`);
    }
    assert.ok(fields.includes('enum: SCTP, TCP, UDP'));
    assert.ok(server.requests.some((request) => request.startsWith('GET /openapi/v3/api/v1?hash=')));
  });

  test(`${name} explains a custom kind from version 3`, async () => {
    const explanation = await run(name, 'explain', 'widgets.spec');
    assert.match(explanation, /What is wanted\./);
    assert.ok(fieldsOf(explanation).includes('items <[]Object>'));
  });

  test(`${name} explains both from version 2 in protobuf`, async () => {
    const output = '--output=plaintext-openapiv2';
    const pod = fieldsOf(await run(name, 'explain', 'pod.spec', output));
    assert.ok(pod.includes('containers <[]Object> -required-'), pod.join('\n'));
    const widget = fieldsOf(await run(name, 'explain', 'widgets.spec', output));
    assert.ok(widget.includes('size <string> -required-'), widget.join('\n'));
    assert.deepEqual(server.requests.slice(-1), ['GET /openapi/v2?timeout=32s']);
  });

  test(`${name} finds resources by discovery`, async () => {
    const lines = await run(name, 'api-resources', '--api-group=example.org', '--no-headers');
    assert.deepEqual(
      lines
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/)),
      [
        ['gadgets', 'example.org/v1', 'false', 'Gadget'],
        ['widgets', 'wd', 'example.org/v1', 'true', 'Widget'],
      ],
    );
  });

  test(`${name} leaves validation and dry runs to the server`, async () => {
    const metadata = { name: 'new', namespace: 'default' };
    const widget = await manifest({ apiVersion: 'example.org/v1', kind: 'Widget', metadata, spec: { size: 'S' } });
    await run(name, 'create', '-f', widget, '--dry-run=server', '--validate=strict');
    assert.match(server.requests.at(-1)!, /^POST .*\/widgets\?dryRun=All&.*fieldValidation=Strict/);
  });

  test(`${name} makes a strategic merge patch`, async () => {
    const changed = await manifest({ ...existing, data: { a: 'new' } });
    await run(name, 'apply', '-f', changed, '--dry-run=server', '--validate=strict');
    assert.match(server.requests.at(-1)!, /^PATCH .*\/configmaps\/there\?dryRun=All&.*fieldValidation=Strict/);
  });
}
