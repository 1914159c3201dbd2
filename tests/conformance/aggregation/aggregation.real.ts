/**
 * The example of an aggregated API server behind the real kube-apiserver and behind Hangar: the same kubectl commands must print the same,
 * the example must see the same user, and its failure must look the same to clients.
 */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { tool } from '../../../tools/tool.ts';
import { startHangar, startReal } from '../servers/index.ts';
import { isInTenant } from '../servers/place.ts';
import type { ControlPlane } from '../servers/index.ts';

const example = fileURLToPath(new URL('../../../examples/aggregated-notes/src/main.ts', import.meta.url));
/** User of the administrator's kubeconfig of Hangar. */
const user = isInTenant() ? 'admin' : 'kubernetes-admin';
const execute = promisify(execFile);

/** A cluster with the example behind it. */
class Side {
  readonly plane: ControlPlane;
  readonly #kubectl: string;
  #stopExample: () => Promise<void> = () => Promise.resolve();

  constructor(plane: ControlPlane, kubectl: string) {
    this.plane = plane;
    this.#kubectl = kubectl;
  }

  /** Returns its output and errors, without inherent differences. */
  async kubectl(command: string, input?: object): Promise<string> {
    const args = [`--kubeconfig=${this.plane.kubeconfig}`, '--request-timeout=20s', ...command.split(' ')];
    const running = execute(this.#kubectl, args, { timeout: 30_000 });
    running.child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
    const { stdout, stderr } = await running.catch((error: { stdout: string; stderr: string }) => error);
    return normalised(stdout + stderr);
  }

  async startExample(database: string): Promise<void> {
    const child = spawn(
      process.execPath,
      [example, `--kubeconfig=${this.plane.kubeconfig}`, `--database=${database}`],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#stopExample = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    };
    const [manifests] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    await this.kubectl('apply -f -', JSON.parse(manifests) as object);
    await this.until('True');
    // Both discover OpenAPI after a while.
    while ((await this.kubectl('explain notes')).startsWith('error')) await sleep(200);
  }

  /** Resolves when the APIService is available, or is not. */
  async until(status: 'True' | 'False'): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const path = '{.status.conditions[0].status}';
      const found = await this.kubectl(`get apiservice v1.notes.example.com -o jsonpath=${path}`);
      if (found === status) return;
      await sleep(100);
    }
    assert.fail(`${this.plane.name}: the APIService does not become ${status}`);
  }

  stopExample(): Promise<void> {
    return this.#stopExample();
  }

  async stop(): Promise<void> {
    await this.#stopExample();
    await this.plane.stop();
  }
}

const normalised = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replaceAll(/(localhost|127\.0\.0\.1|\[::1\]):\d+/g, '<address>');

/** Flags that kube-apiserver requires for aggregation. */
async function frontProxyFlags(folder: string): Promise<string[]> {
  const world = { clock: systemClock, random: systemRandom };
  const users = createAuthority('users', 1, world);
  const authority = createAuthority('proxies', 1, world);
  const proxy = issueCertificate(authority, { commonName: 'front-proxy-client', usage: 'client', days: 1 }, world);
  const files = {
    'users.crt': users.certificate,
    'proxies.crt': authority.certificate,
    'proxy.crt': proxy.certificate,
    'proxy.key': proxy.key,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return [
    `--client-ca-file=${folder}/users.crt`,
    `--requestheader-client-ca-file=${folder}/proxies.crt`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${folder}/proxy.crt`,
    `--proxy-client-key-file=${folder}/proxy.key`,
  ];
}

const note = (title: string, more: object = {}): object => ({
  kind: 'Note',
  apiVersion: 'notes.example.com/v1',
  metadata: { name: 'a', namespace: 'default', labels: { x: '1' } },
  spec: { title, ...more },
});

const steps: readonly [command: string, input?: object][] = [
  ['api-resources --api-group=notes.example.com'],
  ['api-resources --api-group=notes.example.com -o wide'],
  ['explain notes --recursive'],
  ['explain note.spec.title'],
  ['create -f - -o yaml', note('first')],
  ['create -f -', note('first')],
  ['create -f - --validate=strict', { ...note('first'), nonsense: 1 }],
  ['create -f -', note('t'.repeat(81))],
  ['get notes'],
  ['get notes.v1.notes.example.com a -o wide --show-labels'],
  ['get notes -A -o name'],
  ['get note a -o jsonpath={.metadata.resourceVersion}'],
  ['get notes -l x=2'],
  ['get notes --field-selector=metadata.name=a -o name'],
  ['patch note a --type=merge -p {"spec":{"text":"more"}} -o jsonpath={.spec}'],
  ['patch note a --type=json -p [{"op":"add","path":"/spec/tags","value":["t"]}] -o jsonpath={.spec}'],
  ['patch note a -p {"spec":{"text":"strategic"}}'],
  ['apply --server-side --field-manager=one -f -', note('second')],
  [
    'apply --server-side --field-manager=one --force-conflicts -f - -o jsonpath={.spec}',
    note('second', { tags: ['u'] }),
  ],
  ['apply -f -', note('third')],
  ['diff -f -', note('third')],
  ['label note a y=2'],
  ['annotate note a z=3 --dry-run=server'],
  ['delete note a --dry-run=server'],
  ['delete note a'],
  ['get note a'],
  ['delete notes --all'],
  ['auth can-i list notes.notes.example.com'],
  ['get --raw /apis/notes.example.com'],
  ['get --raw /apis/notes.example.com/v1'],
  ['get --raw /apis/notes.example.com/v2'],
  ['get --raw /apis/notes.example.com/v1/nothing'],
  ['create -f - -o yaml', { kind: 'Introduction', apiVersion: 'notes.example.com/v1', metadata: { name: 'me' } }],
  ['get apiservices v1.notes.example.com -o jsonpath={.status.conditions[*].reason}'],
];

describe('the example behind the real kube-apiserver and behind Hangar', () => {
  const opened = new AsyncDisposableStack();
  let real: Side;
  let hangar: Side;

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-aggregation-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    const kubectl = await tool('kubectl');
    const extraArguments = await frontProxyFlags(folder);
    real = new Side(await startReal({ user, extraArguments }), kubectl);
    opened.defer(() => real.stop());
    const allow = ['--outbound-allow-cidr=127.0.0.0/8', '--outbound-allow-cidr=::1'];
    hangar = new Side(await startHangar(['--store=memory', ...allow]), kubectl);
    opened.defer(() => hangar.stop());
    await Promise.all([real.startExample(join(folder, 'real.db')), hangar.startExample(join(folder, 'hangar.db'))]);
  });
  after(() => opened.disposeAsync());

  const same = async (command: string, input?: object): Promise<string> => {
    const [theirs, ours] = await Promise.all([real.kubectl(command, input), hangar.kubectl(command, input)]);
    assert.equal(ours, theirs, command);
    return ours;
  };

  test('kubectl prints the same', async () => {
    for (const [command, input] of steps) await same(command, input);
  });

  test('the same managers own the same fields', async () => {
    await same('create -f -', note('managed'));
    await same('apply --server-side --field-manager=one --force-conflicts -f -', note('managed', { tags: ['u'] }));
    await same('label note a y=2');
    // Entries are sorted by time in seconds, which may fall differently on both sides: they are compared by name.
    const owners = async (side: Side): Promise<unknown> => {
      const printed = await side.kubectl('get note a --show-managed-fields -o jsonpath={.metadata.managedFields}');
      const entries = JSON.parse(printed) as { manager: string; operation: string; fieldsV1: unknown }[];
      return entries
        .map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }))
        .toSorted((a, b) => (a.manager < b.manager ? -1 : 1));
    };
    const [theirs, ours] = await Promise.all([owners(real), owners(hangar)]);
    assert.deepEqual(ours, theirs);
    await same('delete note a');
  });

  test('the example sees the same user', async () => {
    const introduction = { kind: 'Introduction', apiVersion: 'notes.example.com/v1', metadata: { name: 'me' } };
    const seen = await same('create -f - -o jsonpath={.user}', introduction);
    assert.deepEqual(JSON.parse(seen), { name: user, groups: ['system:masters', 'system:authenticated'] });
  });

  test('watches come through as things happen', async () => {
    const watched = Promise.all(
      [real, hangar].map((side) => side.kubectl('get notes --watch --output-watch-events --request-timeout=4s')),
    );
    await sleep(1_000);
    await same('create -f -', note('watched'));
    await same('label note a y=2');
    await same('delete note a');
    const [theirs, ours] = await watched;
    assert.equal(ours, theirs);
    assert.match(ours!, /ADDED +a +watched\nMODIFIED +a +watched\nDELETED +a +watched/);
  });

  test('its death is seen, and costs nothing else', async () => {
    await Promise.all([real.stopExample(), hangar.stopExample()]);
    // Hangar checks at once when a request fails, the real one when the service changes; otherwise both within half a minute.
    await same('get notes');
    await same('label service notes looked=1');
    await Promise.all([real.until('False'), hangar.until('False')]);
    assert.equal(
      await same('get apiservices v1.notes.example.com -o jsonpath={.status.conditions[*].reason}'),
      'FailedDiscoveryCheck',
    );
    assert.match(await same('get notes'), /the server is currently unable to handle the request/);
    await same('get --raw /apis/notes.example.com');
    await same('api-resources --api-group=apps');
    await same('get configmaps -n default -o name');
    await same('create namespace short');
    await same('delete namespace short --wait=false');
    await same('get namespace short -o jsonpath={.status.phase}');
  });
});
