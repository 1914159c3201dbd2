import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argumentsProblem, argv0Of, programArguments } from './arguments.ts';

const place = { folder: '/programs/children/a', port: 20_001 };
const ours = [
  '--kubeconfig=/programs/children/a/kubeconfig',
  '--leader-elect=false',
  '--bind-address=127.0.0.1',
  '--secure-port=20001',
  '--cert-dir=/programs/children/a/certs',
  '--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics',
];

test('each program has what it needs in a fleet', () => {
  assert.deepEqual(programArguments('controllers', [], place), [
    ...ours,
    '--profiling=false',
    '--use-service-account-credentials=true',
  ]);
  assert.deepEqual(programArguments('scheduler', [], place), [...ours, '--profiling=false']);
});

test('flags of the user are passed on, and count where they are about our defaults', () => {
  const given = ['--controllers=*,-ttl', '--use_service_account_credentials=false', '--profiling', '--v', '4'];
  assert.deepEqual(programArguments('controllers', given, place), [...ours, ...given]);
});

test('flags of the user about what is ours are left out, in whatever form', () => {
  const given = [
    '--kubeconfig=/elsewhere',
    '--kubeconfig',
    '/elsewhere',
    '--bind_address=0.0.0.0',
    '--secure-port',
    '1',
    '--leader-elect',
    '--v=2',
    '--master=https://elsewhere',
    '--cert-dir=/tmp',
    '--authorization-always-allow-paths=/*',
    '--authorization_always_allow_paths=/*',
  ];
  assert.deepEqual(programArguments('scheduler', given, place), [...ours, '--profiling=false', '--v=2']);
});

test('a flag of the user that lacks its value takes none of ours for it', () => {
  const all = programArguments('controllers', ['--cluster-name'], place);
  assert.equal(all.at(-1), '--cluster-name');
  assert.deepEqual(all.slice(0, ours.length), ours);
});

test('only a scheduler with a configuration file is refused', () => {
  assert.match(argumentsProblem('scheduler', ['--v=1', '--config', 'x'])!, /--config/);
  assert.equal(argumentsProblem('scheduler', ['--config-other=x', '--v=2']), undefined);
  assert.equal(argumentsProblem('controllers', ['--config=x']), undefined);
});

test('the first word of a user agent says which replica acts', () => {
  assert.equal(argv0Of('controllers', 'pod-1'), 'hangar-controller-manager.pod-1');
  assert.equal(argv0Of('scheduler', 'pod-1'), 'hangar-scheduler.pod-1');
});
