/**
 * `npm run bench -- hosted`: HostedControlPlanes as local processes of the process runtime, with the operator as a separate process.
 * Measures the time from `create` to Ready, the memory of a control plane and of the operator, and the cost of stable control planes.
 * `--planes 2 --objects 20 --stable-seconds 10` is a shorter run for development. `--on kubelet` measures the first control plane on a
 * real kubelet, too, and nothing else.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { cpuMs, residentMiB } from '../server/processes.ts';
import { table } from '../table.ts';
import { compareWithKubelet } from './kubelet.ts';
import { Platform } from './platform.ts';
import { mebibytes, seconds } from './units.ts';

/** Certificates of control planes and Services exist, but the pods of etcd are not schedulable. */
const unschedulable = { replicas: 1, etcd: { replicas: 1, resources: { requests: { cpu: '1000' } } } };
/** With the default requests, which the process runtime does not enforce, a node with two CPUs has room for four control planes. */
const small = { resources: { requests: { cpu: '1m', memory: '1Mi' } } };
const crowded = {
  replicas: 1,
  etcd: small,
  deployment: { apiServer: small, controllerManager: small, scheduler: small },
};
const paused = { 'cluster.x-k8s.io/paused': '' };
const reconciledObjectsMax = 100;
/** After the last control plane is Ready. */
const settleMs = 15_000;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- hosted',
    names: [],
    options: {
      planes: { value: 'N', help: 'control planes that are created at once (default: 10)' },
      objects: { value: 'N', help: 'HostedControlPlane objects for the memory of the operator (default: 1000)' },
      on: {
        value: 'RUNTIME',
        choices: ['process', 'kubelet'],
        help: 'kubelet: only the time to Ready of the first one, on both; root (default: process)',
      },
      'stable-seconds': { value: 'N', help: 'time in which stable control planes are measured (default: 60)' },
    },
  });
  if (values.on === 'kubelet') {
    await compareWithKubelet();
    return true;
  }
  const planes = wholeNumber('planes', values.planes, 10);
  const objects = wholeNumber('objects', values.objects, 1_000);
  const stableMs = wholeNumber('stable-seconds', values['stable-seconds'], 60) * 1_000;

  await using platform = await Platform.start();
  const pids = [platform.operator.pid];
  const idleMiB = residentMiB(pids);
  const firstMs = await platform.create({ names: ['first'], spec: { replicas: 1 }, condition: 'Ready' });
  const threeMs = await platform.create({ names: ['three'], spec: { replicas: 3 }, condition: 'Ready' });
  const planeMiB = { one: await platform.memoryOf('first'), three: await platform.memoryOf('three') };
  await platform.remove('three');
  const manyMs = await platform.create({ names: named('many', planes), spec: crowded, condition: 'Ready' });
  await sleep(settleMs);
  const stable = await measureStable(platform, stableMs);
  const real = planes + 1;
  const realMiB = residentMiB(pids);

  const reconciled = Math.max(0, Math.min(objects, reconciledObjectsMax) - real);
  await platform.create({
    names: named('pending', reconciled),
    spec: unschedulable,
    condition: 'CertificatesReady',
  });
  const reconciledMiB = residentMiB(pids);
  const others = Math.max(0, objects - real - reconciled);
  await platform.create({
    names: named('paused', others),
    spec: { replicas: 1 },
    annotations: paused,
    condition: 'Paused',
  });
  const objectsMiB = residentMiB(pids);

  const total = real + reconciled + others;
  console.log(
    table(
      ['HostedControlPlanes, process runtime', 'Hangar', 'Kamaji, published'],
      [
        ['the first, 1 API server and 3 etcd members, Ready', seconds(firstMs), '16 s'],
        ['one with 3 API servers and 3 etcd members, Ready', seconds(threeMs), ''],
        [`${planes} at once, 1 API server each, all Ready`, seconds(manyMs), '100 in 450 s'],
        ['components of a plane with 1 API server, PSS', mebibytes(planeMiB.one), ''],
        ['components of a plane with 3 API servers, PSS', mebibytes(planeMiB.three), ''],
        ['operator without planes, RSS', mebibytes(idleMiB), ''],
        [`operator with ${real} planes, RSS`, mebibytes(realMiB), ''],
        [
          `operator with ${real + reconciled} planes (${reconciled} without pods), RSS`,
          mebibytes(reconciledMiB),
          '600 MiB',
        ],
        [`operator with ${total} objects (${others} of them paused), RSS`, mebibytes(objectsMiB), ''],
        [`operator, CPU with ${real} stable planes`, `${stable.cpuPercent.toFixed(2)} %`, ''],
      ],
    ),
  );
  console.log(
    [
      '',
      'Planes without pods: the operator has issued their certificates, and their etcd requests more CPU than the node has.',
      'Paused objects: the operator watches them and sets their status only.',
      'Kamaji: other machines, 100 control planes; not measured here.',
    ].join('\n'),
  );
  return printBars([
    { what: 'the first plane is Ready', measured: firstMs / 1_000, bar: 8, must: 'at most', unit: ' s' },
    { what: 'a plane with 3 API servers is Ready', measured: threeMs / 1_000, bar: 8, must: 'at most', unit: ' s' },
    { what: `operator with ${total} objects`, measured: objectsMiB * 1.048576, bar: 150, must: 'at most', unit: ' MB' },
    {
      what: `writes of the operator for ${real} stable planes in ${stableMs / 1_000} s`,
      measured: stable.writes,
      bar: 0,
      must: 'at most',
      unit: '',
    },
  ]);
}

/** Measures the operator for a duration in which the control planes do not change. */
async function measureStable(platform: Platform, durationMs: number): Promise<{ writes: number; cpuPercent: number }> {
  const pids = [platform.operator.pid];
  const [writes, usedMs, fromMs] = [platform.writes(), cpuMs(pids), performance.now()];
  await sleep(durationMs);
  const cpuPercent = (100 * (cpuMs(pids) - usedMs)) / (performance.now() - fromMs);
  return { writes: platform.writes() - writes, cpuPercent };
}

const named = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
