/** `npm run bench -- <name>`: figures are ratios within one run on one machine; see docs/benchmarks.md. */

import { runCommand, Usage } from '../scripts/command-line.ts';

const benches: Record<string, { what: string; run: () => Promise<{ run(options: string[]): Promise<boolean> }> }> = {
  store: {
    what: 'the embedded driver against raw SQLite and against a real etcd; watch latency; growth',
    run: () => import('./store/main.ts'),
  },
  server: {
    what: 'the API server against the real kube-apiserver and etcd: requests, watches, start, memory',
    run: () => import('./server/main.ts'),
  },
  policy: {
    what: 'the API server with RBAC, admission and audit against itself without them',
    run: () => import('./policy/main.ts'),
  },
  tenants: {
    what: 'virtual control planes by the thousand, beside one kube-apiserver for each and kcp',
    run: () => import('./tenants/main.ts'),
  },
  runtime: {
    what: 'operators: client, reconciles, a thousand clusters in one process, clusters shared by several',
    run: () => import('./runtime/main.ts'),
  },
  controlplanes: {
    what: 'ControlPlanes through the whole platform: one, five hundred at once, and what they cost when nobody uses them',
    run: () => import('./controlplanes/main.ts'),
  },
  projects: {
    what: 'a thousand projects in twenty organizations: memory, lists of members, changes of memberships',
    run: () => import('./projects/main.ts'),
  },
  controllers: {
    what: 'the essential controllers beside kube-controller-manager: namespaces, garbage, accounts; ten thousand idle tenants',
    run: () => import('./controllers/main.ts'),
  },
  'controller-manager': {
    what: 'controllers for a fleet: a kube-controller-manager for each cluster, and the essential set for all of them',
    run: () => import('./controller-manager/main.ts'),
  },
  hosted: {
    what: 'HostedControlPlanes as local processes: time to Ready, memory of planes and of the operator, cost of stable planes; Linux',
    run: () => import('./hosted/main.ts'),
  },
  etcd: {
    what: 'the etcd of a HostedControlPlane under load while its members are killed, wiped, replaced, defragmented and upgraded; Linux',
    run: () => import('./etcd/main.ts'),
  },
  'front-door': {
    what: 'the front door beside a plain pipe between two sockets: CPU time of bytes and of connections',
    run: () => import('./front-door/main.ts'),
  },
  backup: {
    what: 'virtual control planes: backup and restore of a large one, of a thousand, and what their neighbours notice',
    run: () => import('./backup/main.ts'),
  },
  search: {
    what: 'the search service: queries and freshness with a million objects, a rebuild while it answers, memory',
    run: () => import('./search/main.ts'),
  },
  migration: {
    what: 'a control plane moves from virtual to dedicated and back under load: time by objects, pause of writes, memory; Linux',
    run: () => import('./migration/main.ts'),
  },
  activity: {
    what: 'the activity service: ingest of audit events, and queries of the last hour among ten million',
    run: () => import('./activity/main.ts'),
  },
  nodes: {
    what: 'streams to a real kubelet through Hangar and through the real kube-apiserver: logs, exec, port-forward; Linux, root',
    run: () => import('./nodes/main.ts'),
  },
};

const [name = '', ...options] = process.argv.slice(2);
await runCommand(async () => {
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (!bench) throw usage(name);
  const { run } = await bench.run();
  return run(options);
});

function usage(unknown: string): Usage {
  const isAsked = unknown === '' || unknown === '--help';
  const width = Math.max(...Object.keys(benches).map((known) => known.length));
  const rows = Object.entries(benches).map(([known, { what }]) => `  ${known.padEnd(width)}  ${what}`);
  const text = [
    'usage: npm run bench -- <name> [options]',
    '',
    ...rows,
    '',
    'Options of one: npm run bench -- <name> --help',
  ];
  return new Usage([...(isAsked ? [] : [`unknown benchmark "${unknown}"`, '']), ...text].join('\n'), isAsked ? 0 : 2);
}
