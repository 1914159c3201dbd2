import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { readOptions } from './options.ts';
import type { ControllerManagerOptions, OptionsWorld } from './options.ts';
import { optionsWorld } from './testing/programs.ts';
import type { Machine } from './testing/programs.ts';

const both = { inPath: ['kube-controller-manager', 'kube-scheduler'] };

async function read(args: readonly string[], machine: Machine = both, given: Partial<OptionsWorld> = {}) {
  const options = await readOptions(args, optionsWorld(machine, given));
  assert.ok(typeof options === 'object');
  return options;
}

const refuses = (args: readonly string[], like: RegExp, machine: Machine = both): Promise<void> =>
  assert.rejects(read(args, machine), (error: Error) => {
    assert.ok(error instanceof UsageError, String(error));
    assert.match(error.message, like);
    return true;
  });

test('without flags it serves what is registered, with the programs in PATH, and shares with other replicas', async () => {
  const { sharing, ...options } = await read([]);
  assert.deepEqual(options, {
    kubeconfig: undefined,
    feedKubeconfig: undefined,
    clusters: { source: 'registration', selector: undefined, namespaceScope: undefined, secretTemplate: undefined },
    engine: {
      name: 'kube',
      why: 'kube-controller-manager was found in PATH',
      controllerManager: '/usr/bin/kube-controller-manager',
      scheduler: '/usr/bin/kube-scheduler',
    },
    managerFlags: [],
    schedulerFlags: [],
    children: {
      workDirectory: '/tmp/hangar-controller-manager-node-1',
      memoryLimitBytes: 512 * 1024 ** 2,
      ports: { from: 20_000, to: 29_999 },
      startConcurrency: 4,
      stopGraceMs: 1_500,
      debounceMs: 1_000,
    },
    serving: {
      host: '127.0.0.1',
      port: 10_257,
      certificateFile: undefined,
      keyFile: undefined,
      certificateDirectory: '/tmp/hangar-controller-manager-node-1/certs',
      tokenFile: undefined,
    },
    logging: { level: 'info', format: undefined },
    unusedFlags: [],
  } satisfies Omit<ControllerManagerOptions, 'sharing'>);
  const { timings, ...others } = sharing;
  assert.equal(timings.leaseMs, 7_000);
  assert.deepEqual(others, {
    electsLeader: true,
    namespace: 'kube-system',
    group: 'controller-manager',
    peer: 'node-1',
    shard: undefined,
  });
});

test('everything can be said', async () => {
  const options = await read(
    [
      '--kubeconfig=management',
      '--feed-kubeconfig=/feed',
      '--cluster-source=controlplaneendpoint',
      '--cluster-selector=a=b,c',
      '--cluster-namespace-scope=fleet',
      '--cluster-kubeconfig-secret-template={name}-kc',
      '--cluster-shard-id=one',
      '--cluster-shard-selector=tier in (gold)',
      '--cluster-shard-group=g',
      '--cluster-peer-name=p.1',
      '--leader-elect-resource-namespace=leases',
      '--engine=kube',
      '--kube-controller-manager=kcm',
      '--kube-scheduler=ks',
      '--kube-scheduler-flag=--v=3',
      '--work-dir=work',
      '--cluster-memory-limit=0',
      '--cluster-port-range=1-2',
      '--cluster-start-concurrency=1',
      '--cluster-stop-grace=2s',
      '--cluster-debounce=0',
      '--bind-address=::1',
      '--secure-port=0',
      '--tls-cert-file=c',
      '--tls-private-key-file=k',
      '--cert-dir=certs',
      '--metrics-token-file=token',
      '--log-level=debug',
      '--log-format=json',
      '--concurrent-gc-syncs=3',
      '--client-ca-file=x',
    ],
    { files: ['/here/kcm', '/here/ks'] },
  );
  assert.deepEqual([options.kubeconfig, options.feedKubeconfig], ['/here/management', '/feed']);
  assert.deepEqual(options.clusters, {
    source: 'controlplaneendpoint',
    selector: 'a=b,c',
    namespaceScope: 'fleet',
    secretTemplate: '{name}-kc',
  });
  assert.deepEqual(options.sharing.shard, { id: 'one', selector: 'tier in (gold)' });
  assert.deepEqual([options.sharing.group, options.sharing.peer, options.sharing.namespace], ['g', 'p.1', 'leases']);
  assert.deepEqual(options.engine, {
    name: 'kube',
    why: 'kube-controller-manager is set by --kube-controller-manager',
    controllerManager: '/here/kcm',
    scheduler: '/here/ks',
  });
  assert.deepEqual(options.managerFlags, ['--concurrent-gc-syncs=3']);
  assert.deepEqual(options.schedulerFlags, ['--v=3']);
  assert.deepEqual(options.children, {
    workDirectory: '/here/work',
    memoryLimitBytes: undefined,
    ports: { from: 1, to: 2 },
    startConcurrency: 1,
    stopGraceMs: 2_000,
    debounceMs: 0,
  });
  assert.deepEqual(options.serving, {
    host: '::1',
    port: 0,
    certificateFile: '/here/c',
    keyFile: '/here/k',
    certificateDirectory: '/here/certs',
    tokenFile: '/here/token',
  });
  assert.deepEqual(options.logging, { level: 'debug', format: 'json' });
  assert.deepEqual(options.unusedFlags, ['client-ca-file']);
});

test('help and version come before anything is looked for', async () => {
  const world = optionsWorld({});
  assert.equal(await readOptions(['--nonsense=x', '--help', 'y'], world), 'help');
  assert.equal(await readOptions(['-h'], world), 'help');
  assert.equal(await readOptions(['--engine=kube', '--version'], world), 'version');
  assert.equal(await readOptions(['--help=true'], world), 'help');
});

test('the engine is what is there, or what is asked for', async () => {
  const choice = async (args: readonly string[], machine: Machine) => {
    const { name, why } = (await read(args, machine)).engine;
    return `${name}: ${why}`;
  };
  assert.equal(
    await choice([], {}),
    'essential: kube-controller-manager was not found in PATH, and --kube-controller-manager is not set',
  );
  assert.equal(await choice(['--engine=essential'], both), 'essential: set by --engine');
  assert.equal(await choice(['--engine', 'kube'], both), 'kube: kube-controller-manager was found in PATH');
  await refuses(['--engine=kube'], /^--engine=kube: kube-controller-manager was not found in PATH; set/, {});
  await refuses(['--engine=fast'], /^--engine: "fast" must be one of auto, kube, essential$/);
  await refuses(['--kube-controller-manager=x'], /^--kube-controller-manager: "x" is not an executable file$/);
  await refuses(['--kube-controller-manager='], /"" is not an executable file$/);
  await refuses(['--kube-scheduler=x'], /^--kube-scheduler: "x" is not an executable file$/);
  await refuses(
    ['--engine=essential', '--kube-controller-manager=kcm'],
    /^--kube-controller-manager and --engine=essential cannot be used together$/,
    { files: ['/here/kcm'] },
  );
});

test('flags of a program that is looked for in another place than the last flag are still found', async () => {
  const machine = { files: ['/here/kcm'] };
  const { engine, managerFlags } = await read(
    ['--controllers', '*', '--profiling', '--kube-controller-manager', 'kcm', '--v', '2'],
    machine,
  );
  assert.equal(engine.controllerManager, '/here/kcm');
  assert.deepEqual(managerFlags, ['--controllers=*', '--profiling', '--v=2']);
});

test('the program itself is asked whether it takes what is passed on', async () => {
  const asked: unknown[] = [];
  const complaint = (path: string, flags: readonly string[]): string | undefined => {
    asked.push([path, ...flags]);
    if (flags.includes('--profilling')) return 'unknown flag: --profilling';
    return flags.includes('--kube-api-qps=x') ? 'invalid argument "x" for "--kube-api-qps" flag' : undefined;
  };
  const machine = { ...both, complaint };
  assert.deepEqual((await read(['--hidden=1'], machine)).managerFlags, ['--hidden=1']);
  assert.deepEqual(asked, [['/usr/bin/kube-controller-manager', '--hidden=1']]);
  await refuses(
    ['--profilling'],
    /^neither this command nor kube-controller-manager has the flag --profilling; did you mean --profiling\?$/,
    machine,
  );
  await refuses(['--kube-api-qps=x'], /^kube-controller-manager rejects a flag: invalid argument "x" for/, machine);
  asked.length = 0;
  await read(['--leader-elect=false'], machine);
  assert.deepEqual(asked, [], 'nothing is passed on');
});

test('flags of kube-scheduler are such, are its own, and are taken by it', async () => {
  const complaint = (path: string): string | undefined =>
    path.endsWith('scheduler') ? 'unknown flag: --x' : undefined;
  await refuses(['--kube-scheduler-flag=--x'], /kube-scheduler rejects it: unknown flag: --x$/, { ...both, complaint });
  await refuses(['--kube-scheduler-flag=x'], /"x" is not a flag such as --v=2$/);
  await refuses(['--kube-scheduler-flag=--kubeconfig=x'], /"--kubeconfig=x" is set by Hangar for each cluster$/);
  await refuses(
    ['--kube-scheduler-flag=--leader_elect=true'],
    /"--leader-elect=true" is set by Hangar for each cluster$/,
  );
  await refuses(['--kube-scheduler-flag=--v=2'], /kube-scheduler was not found in PATH; set/, {
    inPath: ['kube-controller-manager'],
  });
});

test('flags of kube-scheduler are passed on as its own would be: by their names, with files of this folder', async () => {
  const flags = ['--authentication_kubeconfig=a/b', '--feature-gates=A=true', '--tls-cert-file=/c', '--v=2'];
  const { schedulerFlags } = await read(
    flags.map((flag) => `--kube-scheduler-flag=${flag}`),
    both,
  );
  assert.deepEqual(schedulerFlags, [
    '--authentication-kubeconfig=/here/a/b',
    '--feature-gates=A=true',
    '--tls-cert-file=/c',
    '--v=2',
  ]);
});

test('what does not go together is refused, with what to do', async () => {
  await refuses(['--cluster-shard-selector=a'], /requires --cluster-shard-id$/);
  await refuses(['--cluster-shard-id='], /--cluster-shard-id must not be empty$/);
  await refuses(['--cluster-shard-id=a b'], /^--cluster-shard-id: "a b" is invalid: /);
  await refuses(['--cluster-shard-id=a', '--cluster-shard-selector=a=b=c'], /^--cluster-shard-selector: /);
  await refuses(['--cluster-kubeconfig-secret-template={name}'], /requires --cluster-source=controlplaneendpoint/);
  const endpoints = '--cluster-source=controlplaneendpoint';
  await refuses([endpoints, '--cluster-kubeconfig-secret-template=a/b'], /it names the same Secret for all clusters$/);
  await refuses(
    [endpoints, '--cluster-kubeconfig-secret-template={x}{name}'],
    /contains an unknown variable; use {namespace} or {name}$/,
  );
  await refuses(['--cluster-selector=a=b=c'], /^--cluster-selector: /);
  await refuses(['--cluster-namespace-scope=A'], /^--cluster-namespace-scope: "A" is invalid: /);
  await refuses(['--cluster-source=file'], /must be one of registration, controlplaneendpoint$/);
  await refuses(['--cluster-peer-name=../x'], /^--cluster-peer-name: .* lower case letters/);
  await refuses(['--leader-elect-resource-lock=endpoints'], /must be one of leases$/);
  await refuses(['--leader-elect-resource-name=a.b'], /^--leader-elect-resource-name: "a.b" is invalid: /);
  await refuses(['--tls-cert-file=a'], /must be set together$/);
  await refuses(['--cluster-stop-grace=2m'], /must be between 0s and 60s$/);
  await refuses(['--log-level=loud'], /^--log-level: /);
  await refuses(['get'], /^unexpected argument "get"$/);
});

test('a shard has a label of its own, and the name of a lock is that of a group', async () => {
  assert.deepEqual((await read(['--cluster-shard-id=one'])).sharing.shard, {
    id: 'one',
    selector: 'hangar.dev/shard=one',
  });
  assert.equal((await read(['--leader-elect-resource-name=blue'])).sharing.group, 'blue');
  const both = ['--leader-elect-resource-name=blue', '--cluster-shard-group=green'];
  assert.equal((await read(both)).sharing.group, 'green');
  const east = (await read(['--cluster-selector=region=east'])).sharing.group;
  const west = (await read(['--cluster-selector=region=west'])).sharing.group;
  assert.match(east, /^controller-manager-[0-9a-f]{8}$/);
  assert.notEqual(east, west, 'who looks at other clusters shares nothing');
});

test('the environment says how to log, below the command line', async () => {
  const environment = { LOG_LEVEL: 'warn', LOG_FORMAT: 'text' };
  assert.deepEqual((await read([], both, { environment })).logging, { level: 'warn', format: 'text' });
  assert.equal((await read(['--log-level=debug'], both, { environment })).logging.level, 'debug');
});
