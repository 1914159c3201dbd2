/** The controller of project settings serves 500 projects in one process, and leaves nothing behind when projects come and go. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InProcessTransport, RestClient } from '@hangar/client';
import type { Client, InProcessHandler } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, sleep, systemClock } from '@hangar/core';
import { definitions, Project } from '@hangar/projects-operator';
import { Manager } from '@hangar/runtime';
import { miloProjects } from '@hangar/runtime/clusters';
import { installCrd, startTestFleet } from '@hangar/testkit';
import { cache, settingsController } from '../../examples/project-settings/src/settings.ts';

const cycles = 10;
const atOnce = 25;
const key = { namespace: 'default', name: 'project-settings' };
const silent = new Logger({ level: 'silent', format: 'text', clock: systemClock });
const administrator = { commonName: 'administrator', organizations: ['system:masters'], expiresAt: Infinity };

/** Counts the streamed answers that are open: each watch is one. */
function counting(handler: InProcessHandler): { readonly handler: InProcessHandler; open(): number } {
  let open = 0;
  return {
    open: () => open,
    async handler(request) {
      const answer = await handler(request);
      const { body } = answer;
      if (!('start' in body)) return answer;
      const start: typeof body.start = (sink) => {
        open++;
        sink.onClose(() => open--);
        body.start(sink);
      };
      return { ...answer, body: { start } };
    },
  };
}

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(systemClock, 10);
};

async function createProject(client: Client, name: string): Promise<void> {
  const spec = { ownerRef: { kind: 'Organization' as const, name: 'acme' } };
  await client.create(Project, { metadata: { name }, spec });
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { status: { conditions: [ready] } };
  await client.status.patch(Project, { name }, { type: 'merge', body });
}

async function inParts(names: readonly string[], run: (name: string) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < names.length; at += atOnce) await Promise.all(names.slice(at, at + atOnce).map(run));
}

/** Runs the controller for a fleet with these control planes, which have no projects yet. */
async function startService(names: readonly string[]) {
  await using opened = new AsyncDisposableStack();
  const fleet = opened.use(await startTestFleet({ clusters: names }));
  for (const definition of definitions) await installCrd(fleet.client, definition);
  const counted = counting(fleet.handler);
  const transport = new InProcessTransport({
    handler: counted.handler,
    peer: { address: '127.0.0.1', certificate: administrator },
  });
  const manager = new Manager({
    client: new RestClient(transport),
    closesClient: true,
    clusters: (world) => ({
      provider: miloProjects({ ...world, management: world.client, clusterOptions: { cache } }),
      debounceMs: 1,
    }),
    metrics: false,
    health: false,
    log: silent,
  });
  manager.controller(settingsController({ region: 'north' }));
  const ending = new AbortController();
  const running = manager.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  opened.defer(stop);
  await until(() => counted.open() > 0);
  const closing = opened.move();
  return {
    client: fleet.client,
    inside: (name: string) => fleet.clientOf(name),
    watches: () => counted.open(),
    engaged: () => [...manager.clusters.names()].filter((name) => name !== '').length,
    /** Resolves when the project has its settings. */
    untilSet: (name: string): Promise<void> =>
      until(() =>
        fleet
          .clientOf(name)
          .get(ConfigMap, key)
          .then(
            ({ data }) => data?.['project'] === name && data['region'] === 'north',
            () => false,
          ),
      ),
    stop,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `project-${at}`);

test('500 projects in one process have their settings', async () => {
  const names = namesOf(500);
  await using service = await startService(names);
  await inParts(names, (name) => createProject(service.client, name));
  await inParts(names, (name) => service.untilSet(name));
  assert.equal(service.engaged(), names.length);
});

test('projects that come and go leave no watch, no cache and no cluster', async () => {
  const names = namesOf(20);
  await using service = await startService(names);
  const idle = service.watches();
  await inParts(names, (name) => createProject(service.client, name));
  await inParts(names, (name) => service.untilSet(name));
  const busy = service.watches();
  assert.equal((busy - idle) % names.length, 0);
  for (let cycle = 0; cycle < cycles; cycle++) {
    await inParts(names, (name) => service.client.delete(Project, { name }));
    await until(() => service.engaged() === 0 && service.watches() === idle);
    await inParts(names, (name) => service.inside(name).delete(ConfigMap, key));
    await inParts(names, (name) => createProject(service.client, name));
    await inParts(names, (name) => service.untilSet(name));
    await until(() => service.engaged() === names.length && service.watches() === busy);
  }
  await service.stop();
  await until(() => service.watches() === 0);
});
