import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { kubeFlagsIn } from './kube-help.ts';
import { sortFlags } from './sorting.ts';
import { managerHelp } from './testing/programs.ts';

const kube = kubeFlagsIn(managerHelp);
const sorted = (...args: string[]) => sortFlags(args, { kube, folder: '/here' });
const sortedWithoutProgram = (...args: string[]) => sortFlags(args, { kube: undefined, folder: '/here' });

const refuses = (act: () => unknown, like: RegExp): void =>
  assert.throws(act, (error: Error) => error instanceof UsageError && like.test(error.message));

test('ours are kept, and the rest is passed on in its order', () => {
  const { ours, passedOn, unused, unlisted } = sorted(
    '--kubeconfig',
    'a',
    '--controllers=*,-ttl',
    '--profiling',
    '--leader-elect=false',
    '--v',
    '4',
    '--feature-gates',
    'A=true',
    '--feature-gates=B=false',
    '-v2',
    '--allocate_node_cidrs=false',
  );
  assert.deepEqual({ ...ours }, { kubeconfig: 'a', 'leader-elect': false });
  assert.deepEqual(passedOn, [
    '--controllers=*,-ttl',
    '--profiling',
    '--v=4',
    '--feature-gates=A=true',
    '--feature-gates=B=false',
    '--v=2',
    '--allocate-node-cidrs=false',
  ]);
  assert.deepEqual([unused, unlisted], [[], []]);
});

test('ours may be repeated where that means something; else the last one counts', () => {
  const { ours } = sorted(
    '--kube-scheduler-flag=--v=2',
    '--kube-scheduler-flag',
    '--v=3',
    '--engine=kube',
    '--engine=auto',
  );
  assert.deepEqual({ ...ours }, { 'kube-scheduler-flag': ['--v=2', '--v=3'], engine: 'auto' });
});

test('a word with ours at its beginning is kube-controller-manager’s if it has it', () => {
  assert.deepEqual(sorted('--cluster-name=x', '--cluster-cidr', '10.0.0.0/8').passedOn, [
    '--cluster-name=x',
    '--cluster-cidr=10.0.0.0/8',
  ]);
});

test('relative names of files are those of this folder: programs have another one', () => {
  assert.deepEqual(sorted('--root-ca-file=ca.crt', '--root-ca-file=/x/../ca', '--root-ca-file=').passedOn, [
    '--root-ca-file=/here/ca.crt',
    '--root-ca-file=/ca',
    '--root-ca-file=',
  ]);
});

test('flags of serving and delegated authentication are accepted and told of, once each', () => {
  const { passedOn, unused } = sorted(
    '--authentication-kubeconfig=x',
    '--authorization-kubeconfig',
    'x',
    '--client-ca-file=x',
    '--requestheader-allowed-names=x',
    '--tls-min-version',
    'VersionTLS13',
    '--http2-max-streams-per-connection=1',
    '--permit-port-sharing',
    '--tls-min-version=x',
  );
  assert.deepEqual(passedOn, []);
  assert.deepEqual(unused, [
    'authentication-kubeconfig',
    'authorization-kubeconfig',
    'client-ca-file',
    'requestheader-allowed-names',
    'tls-min-version',
    'http2-max-streams-per-connection',
    'permit-port-sharing',
  ]);
  assert.deepEqual(
    { ...sorted('--tls-cert-file=a', '--tls-private-key-file=b').ours },
    {
      'tls-cert-file': 'a',
      'tls-private-key-file': 'b',
    },
  );
});

test('what the program does not list is left to it to judge', () => {
  const { passedOn, unlisted } = sorted('--deprecated', 'x', '--profilling');
  assert.deepEqual(
    [passedOn, unlisted],
    [
      ['--deprecated=x', '--profilling'],
      ['deprecated', 'profilling'],
    ],
  );
});

test('an address for all clusters is refused', () => {
  refuses(() => sorted('--master=https://x'), /^--master is not supported: each cluster has its own address$/);
  refuses(() => sortedWithoutProgram('--master', 'x'), /^--master is not supported/);
});

test('without a program its flags have no effect, and are told of', () => {
  const { ours, passedOn, unused } = sortedWithoutProgram(
    '--controllers',
    '*',
    '--profiling',
    '--v=2',
    '-v',
    '3',
    '--terminated-pod-gc-threshold',
    '-1',
    '--cluster-name=x',
    '--cluster-signing-key-file',
    'x',
    '--engine',
    'essential',
  );
  assert.deepEqual([{ ...ours }, passedOn], [{ engine: 'essential' }, []]);
  assert.deepEqual(unused, [
    'controllers',
    'profiling',
    'v',
    'terminated-pod-gc-threshold',
    'cluster-name',
    'cluster-signing-key-file',
  ]);
});

test('without a program, what looks like one of ours that is misspelt is refused', () => {
  refuses(
    () => sortedWithoutProgram('--cluster-shard-ids=1'),
    /^unknown flag: --cluster-shard-ids; did you mean --cluster-shard-id/,
  );
  refuses(() => sortedWithoutProgram('--kubeconfg=x'), /did you mean --kubeconfig\?$/);
  refuses(() => sortedWithoutProgram('--leader-elect-something'), /^unknown flag: --leader-elect-something/);
  refuses(() => sortedWithoutProgram('--engines=kube'), /did you mean --engine\?$/);
});

test('switches of ours have a value that is one', () => {
  refuses(() => sorted('--leader-elect=maybe'), /^--leader-elect: "maybe" must be true or false$/);
  refuses(() => sorted('--leader-elect', 'false'), /^unexpected argument "false"/);
});
