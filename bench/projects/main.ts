/**
 * `npm run bench -- projects [--quick]`: a thousand projects in twenty organizations, through the whole platform as `hangar up --projects`
 * runs it. Measures the memory of idle projects, lists of members with their own credential, and the time until a change of a membership
 * has an effect in all projects of the organization.
 */

import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import { Organization, OrganizationMembership, organizationNamespace, Project } from '@hangar/projects-operator';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { table } from '../table.ts';
import { settled } from '../tenants/footprint.ts';
import { Hangar } from '../tenants/hangar.ts';

interface Size {
  readonly organizations: number;
  /** Of each organization. */
  readonly projects: number;
}

const lists = 50;
const pollMs = 5;
const createdAtOnce = 16;
const whole = { isWhole: true, flags: ['--projects'] };

const organizationName = (at: number): string => `org-${at}`;
const projectName = (organization: number, at: number): string => `p-${organization}-${at}`;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- projects',
    names: [],
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const size = values.quick ? { organizations: 4, projects: 25 } : { organizations: 20, projects: 50 };
  return Hangar.use([], async (hangar) => {
    await hangar.stop();
    await appendFile(hangar.file('tokens.csv'), 'member,member,\nguest,guest,\n');
    await hangar.start(whole);
    const { residentMiB: before } = await settledAfterRestart(hangar);
    const count = size.organizations * size.projects;
    const createdMs = await withClient(hangar, (client) => timed(() => createAll(client, size)));
    const listMs = await listedMs(hangar, size);
    const changes = await withClient(hangar, (client) => changesMs(hangar, client, size));
    const { residentMiB: after } = await settledAfterRestart(hangar);
    const kibEach = ((after - before) * 1024) / count;
    const rows = [
      [
        `${count} projects in ${size.organizations} organizations, from create to Ready`,
        `${(createdMs / 1000).toFixed(1)} s`,
      ],
      ['memory of an idle project', `${kibEach.toFixed(1)} KiB`],
      [`list of ${size.projects} own projects by a member (p99)`, `${listMs.toFixed(1)} ms`],
      [`a new member has access to ${size.projects} projects`, `${changes.addedMs.toFixed(0)} ms`],
      [`a removed member has no access to ${size.projects} projects`, `${changes.removedMs.toFixed(0)} ms`],
    ];
    console.log(table(['projects', 'figure'], rows));
    return printBars([
      { what: 'memory of an idle project', measured: kibEach, bar: 25, must: 'at most', unit: ' KiB' },
      { what: 'list of own projects by a member (p99)', measured: listMs, bar: 50, must: 'at most', unit: ' ms' },
      { what: 'a new member has access', measured: changes.addedMs, bar: 1_000, must: 'at most', unit: ' ms' },
      { what: 'a removed member has no access', measured: changes.removedMs, bar: 1_000, must: 'at most', unit: ' ms' },
    ]);
  });
}

/** Memory that only the creation of the projects needed is not counted. */
async function settledAfterRestart(hangar: Hangar): ReturnType<typeof settled> {
  await hangar.stop();
  await hangar.start(whole);
  return settled(hangar);
}

async function withClient<T>(hangar: Hangar, use: (client: Client) => Promise<T>): Promise<T> {
  const client = connect(await loadKubeconfig(hangar.kubeconfig));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Resolves when all projects are Ready. */
async function createAll(client: Client, size: Size): Promise<void> {
  const organizations = Array.from({ length: size.organizations }, (_, at) => at);
  for (const at of organizations) {
    const name = organizationName(at);
    await client.create(Organization, { metadata: { name }, spec: { projectsMax: size.projects } });
  }
  await untilReady(client, Organization, new Set(organizations.map(organizationName)));
  // One organization has the member: the list must not depend on the others.
  await createMember(client, 'member');
  const all = organizations.flatMap((at) => Array.from({ length: size.projects }, (_, each) => [at, each] as const));
  const waiting = all.map(([at, each]) => projectName(at, each));
  const ready = untilReady(client, Project, new Set(waiting));
  const rest = all.values();
  const creators = Array.from({ length: createdAtOnce }, async () => {
    for (const [at, each] of rest) {
      const ownerRef = { kind: 'Organization' as const, name: organizationName(at) };
      await client.create(Project, { metadata: { name: projectName(at, each) }, spec: { ownerRef } });
    }
  });
  await Promise.all([...creators, ready]);
}

const createMember = (client: Client, name: string): Promise<OrganizationMembership> =>
  client.create(OrganizationMembership, {
    metadata: { namespace: organizationNamespace(organizationName(0)), name },
    spec: { organizationRef: { name: organizationName(0) }, userRef: { name }, roles: [{ name: 'viewer' }] },
  });

async function untilReady(
  client: Client,
  kind: typeof Organization | typeof Project,
  names: Set<string>,
): Promise<void> {
  const { items, resourceVersion } = await client.list(kind as typeof Project);
  const seen = ({ metadata, status }: Project): void => {
    if (status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')) names.delete(metadata.name!);
  };
  for (const one of items) seen(one);
  if (names.size === 0) return;
  for await (const event of client.watch(kind as typeof Project, { resourceVersion })) {
    if (event.type !== 'BOOKMARK') seen(event.object);
    if (names.size === 0) return;
  }
}

async function configOf(hangar: Hangar, token: string, path = ''): Promise<ClusterConfig> {
  const { server, ca } = await loadKubeconfig(hangar.kubeconfig);
  const headers = { authorization: `Bearer ${token}` };
  return { server: `${server}${path}`, ca, credentials: { headers: () => headers } };
}

async function listedMs(hangar: Hangar, size: Size): Promise<number> {
  const client = connect(await configOf(hangar, 'member'));
  try {
    const times: number[] = [];
    for (let at = 0; at < lists; at++) {
      times.push(
        await timed(async () => {
          const { items } = await client.list(Project);
          if (items.length !== size.projects) throw new Error(`the member sees ${items.length} projects`);
        }),
      );
    }
    return times.toSorted((a, b) => a - b)[Math.floor(lists * 0.99) - 1]!;
  } finally {
    await client.close();
  }
}

/** From the request that changes the membership until all projects of the organization show it. */
async function changesMs(hangar: Hangar, client: Client, size: Size): Promise<{ addedMs: number; removedMs: number }> {
  const guest = connect(await configOf(hangar, 'guest'));
  const statusIn = async (project: string): Promise<number> => {
    const target = `/projects/${project}/control-plane/api/v1/namespaces/default/configmaps`;
    const answer = await guest.raw({ method: 'GET', target });
    await answer.body();
    return answer.status;
  };
  const until = (status: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: size.projects }, async (_, at) => {
        while ((await statusIn(projectName(0, at))) !== status) await sleep(pollMs);
      }),
    );
  try {
    const name = 'guest';
    const addedMs = await timed(async () => {
      await createMember(client, name);
      await until(200);
    });
    const namespace = organizationNamespace(organizationName(0));
    const removedMs = await timed(async () => {
      await client.delete(OrganizationMembership, { namespace, name });
      await until(404);
    });
    return { addedMs, removedMs };
  } finally {
    await guest.close();
  }
}
