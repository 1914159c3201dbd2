/**
 * `npm run bench -- controlplanes [--quick] [--profile FOLDER]`: ControlPlanes through the whole platform, as `hangar up` runs it: server,
 * embedded store, operator and essential controllers in one process. Measures the time for one, the time for five hundred that are created
 * at once, and their idle cost.
 */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, defineKind, loadKubeconfig } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { table } from '../table.ts';
import { Hangar } from '../tenants/hangar.ts';

interface ControlPlaneObject extends ApiObject {
  spec: object;
  status?: { conditions?: { type: string; status: string }[] };
}

const ControlPlane = defineKind<ControlPlaneObject>({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlane',
  plural: 'controlplanes',
  isNamespaced: false,
});

/** Until idle tenants are closed, and their usage is stored: the rest is their cost. */
const closingMs = 100_000;
const idleMs = 10_000;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- controlplanes',
    names: [],
    options: {
      quick: { help: 'for development: smaller and shorter' },
      profile: { value: 'FOLDER', help: 'each server writes a CPU profile there' },
    },
  });
  const count = values.quick ? 100 : 500;
  const nodeFlags = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`];
  return Hangar.use(nodeFlags, async (hangar) => {
    await hangar.stop();
    await hangar.start({ isWhole: true });
    const client = connect(await loadKubeconfig(hangar.kubeconfig));
    try {
      const first = await timed(() => made(client, ['first']));
      const one = await timed(() => made(client, ['alone']));
      const before = await cpuSeconds(hangar.pid);
      const many = await timed(() =>
        made(
          client,
          Array.from({ length: count }, (_, at) => `cp-${at}`),
        ),
      );
      const spent = (await cpuSeconds(hangar.pid)) - before;
      await sleep(closingMs);
      const [revision, cpu] = [await revisionOf(client), await cpuSeconds(hangar.pid)];
      await sleep(idleMs);
      const idleCpu = (100 * ((await cpuSeconds(hangar.pid)) - cpu)) / (idleMs / 1000);
      const writes = (await revisionOf(client)) - revision;
      const memory = await residentMegabytes(hangar.pid);
      console.log(
        table(
          ['ControlPlanes, from create to Ready', 'figure'],
          [
            ['the first of a new platform', `${first.toFixed(0)} ms`],
            ['one', `${one.toFixed(0)} ms`],
            [`${count} created at once`, `${(many / 1000).toFixed(1)} s`],
            ['CPU for each of them', `${((1000 * spent) / count).toFixed(1)} ms`],
            [`memory of the process with ${count}`, `${memory.toFixed(0)} MB`],
            ['CPU when idle', `${idleCpu.toFixed(2)} %`],
          ],
        ),
      );
      return printBars([
        {
          what: `${count} ControlPlanes created at once are Ready`,
          measured: many / 1000,
          bar: 30,
          must: 'at most',
          unit: ' s',
        },
        { what: 'one ControlPlane is Ready', measured: one, bar: 1_000, must: 'at most', unit: ' ms' },
        { what: 'writes in ten idle seconds', measured: writes, bar: 0, must: 'at most', unit: '' },
        { what: 'CPU when idle', measured: idleCpu, bar: 2, must: 'at most', unit: ' %' },
      ]);
    } finally {
      await client.close();
    }
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Creates them at once; resolves when all are Ready. */
async function made(client: Client, names: readonly string[]): Promise<void> {
  const waiting = new Set(names);
  const ending = new AbortController();
  const { resourceVersion } = await client.list(ControlPlane);
  const ready = (async () => {
    for await (const event of client.watch(ControlPlane, { resourceVersion, signal: ending.signal })) {
      if (event.type !== 'BOOKMARK' && isReady(event.object)) waiting.delete(event.object.metadata.name!);
      if (waiting.size === 0) return;
    }
  })();
  await Promise.all(names.map((name) => client.create(ControlPlane, { metadata: { name }, spec: {} })));
  await ready;
  ending.abort();
}

const isReady = ({ status }: ControlPlaneObject): boolean =>
  status?.conditions?.some(({ type, status: so }) => type === 'Ready' && so === 'True') ?? false;

/** Revision of the store, which every write in any tenant increments. */
const revisionOf = async (client: Client): Promise<number> => Number((await client.list(ControlPlane)).resourceVersion);

const ticksPerSecond = 100;

async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}
