/** `npm run bench -- <name>`: figures are ratios within one run on one machine; see docs/benchmarks.md. */

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
  controllers: {
    what: 'the essential controllers beside kube-controller-manager: namespaces, garbage, accounts; ten thousand idle tenants',
    run: () => import('./controllers/main.ts'),
  },
  'controller-manager': {
    what: 'controllers for a fleet: a kube-controller-manager for each cluster, and the essential set for all of them',
    run: () => import('./controller-manager/main.ts'),
  },
};

const [name = '', ...options] = process.argv.slice(2);
const bench = benches[name];
if (!bench) {
  console.log('usage: npm run bench -- <name>\n');
  for (const [known, { what }] of Object.entries(benches)) console.log(`  ${known}  ${what}`);
  process.exitCode = name === '' || name === '--help' ? 0 : 2;
} else {
  const { run } = await bench.run();
  process.exitCode = (await run(options)) ? 0 : 1;
}
