/**
 * `npm run bench -- policy`: the cost of policy. One Hangar authorizes every request, has no admission plugins and no audit log; the other
 * has RBAC and a user with a role, all default plugins, and audits every request at Metadata. The two alternate, so that other load on the
 * machine affects both.
 */

import { pluginNames } from '@hangar/server';
import { readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { Connection } from '../server/connection.ts';
import type { Protocol } from '../server/connection.ts';
import { adminToken, startHangar } from '../server/servers.ts';
import type { Server } from '../server/servers.ts';
import { measure, prepare, works } from '../server/work.ts';
import type { Measured, Work } from '../server/work.ts';
import { table, thousands } from '../table.ts';

const throughputLeft = 0.85;

const startOpen = (): Promise<Server> =>
  startHangar('embedded', {
    flags: () => ['--authorization-mode=AlwaysAllow', `--disable-admission-plugins=${pluginNames.join(',')}`],
  });

const auditPolicy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n';

async function startGuarded(): Promise<Server> {
  const server = await startHangar('embedded', {
    user: 'worker,worker',
    files: { 'audit-policy.yaml': auditPolicy },
    flags: (folder) => [`--audit-policy-file=${folder}/audit-policy.yaml`, `--audit-log-path=${folder}/audit.log`],
  });
  const admin = await Connection.open({ port: server.port, token: adminToken, protocol: 'http/1.1' });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const role = {
    metadata: { name: 'worker' },
    rules: [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['*'] }],
  };
  const binding = {
    metadata: { name: 'worker' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'worker' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'worker' }],
  };
  for (const [path, object] of [
    [`${rbac}/clusterroles`, role],
    [`${rbac}/clusterrolebindings`, binding],
  ] as const) {
    const { status, body } = await admin.request('POST', path, { body: Buffer.from(JSON.stringify(object)) });
    if (status !== 201) throw new Error(`${path}: ${status} ${body.toString()}`);
  }
  admin.close();
  return server;
}

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- policy',
    names: [],
    options: {
      protocol: { value: 'NAME', choices: ['h2', 'http/1.1'], help: 'h2 or http/1.1; both unless given' },
      rounds: { value: 'N', help: 'rounds of each work; 5 unless given' },
    },
  });
  const protocols = (values.protocol ? [values.protocol] : ['h2', 'http/1.1']) as Protocol[];
  const rounds = wholeNumber('rounds', values.rounds, 5);
  const open = await startOpen();
  try {
    const guarded = await startGuarded();
    try {
      for (const server of [open, guarded]) await prepare(server);
      return report(await measured(open, guarded, protocols, rounds), protocols);
    } finally {
      await guarded.stop();
    }
  } finally {
    await open.stop();
  }
}

type Samples = ReadonlyMap<string, { readonly open: Measured[]; readonly guarded: Measured[] }>;

async function measured(
  open: Server,
  guarded: Server,
  protocols: readonly Protocol[],
  rounds: number,
): Promise<Samples> {
  const samples = new Map<string, { open: Measured[]; guarded: Measured[] }>();
  const warmUps = 1;
  for (let round = 0; round < rounds + warmUps; round++) {
    for (const protocol of protocols) {
      const created = new Map<Server, number>();
      for (const work of works) {
        const key = `${work} ${protocol}`;
        if (!samples.has(key)) samples.set(key, { open: [], guarded: [] });
        // The order alternates, too.
        const turns = round % 2 === 0 ? [open, guarded] : [guarded, open];
        for (const server of turns) {
          const number = round * protocols.length + protocols.indexOf(protocol);
          const limit = work === 'delete' ? { requestsMax: created.get(server)! } : {};
          const one = await measure(server, work, { protocol, round: number, durationMs: 1_500, ...limit });
          if (work === 'create') created.set(server, one.requests);
          if (round >= warmUps) samples.get(key)![server === open ? 'open' : 'guarded'].push(one);
        }
      }
    }
    console.log(round < warmUps ? 'warm' : `round ${round} of ${rounds}`);
  }
  return samples;
}

function report(samples: Samples, protocols: readonly Protocol[]): boolean {
  const bars = [];
  const ratios: number[] = [];
  for (const protocol of protocols) {
    const rows = works.map((work: Work) => {
      const { open, guarded } = samples.get(`${work} ${protocol}`)!;
      const [without, withAll] = [median(open, 'perSecond'), median(guarded, 'perSecond')];
      const ratio = withAll / without;
      ratios.push(ratio);
      const cpu = [open, guarded].map((all) => (median(all, 'cpuMs') * 1_000).toFixed(0));
      return [work, thousands(without), thousands(withAll), ratio.toFixed(2), ...cpu];
    });
    console.log(`\n${table([protocol, 'without/s', 'with/s', 'ratio', 'CPU µs without', 'CPU µs with'], rows)}`);
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  bars.push({
    what: 'throughput that is left with RBAC, admission and audit (geometric mean of all works)',
    measured: mean,
    bar: throughputLeft,
    must: 'at least' as const,
  });
  return printBars(bars);
}

function median(all: readonly Measured[], name: 'perSecond' | 'cpuMs'): number {
  const sorted = all.map((one) => one[name]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
