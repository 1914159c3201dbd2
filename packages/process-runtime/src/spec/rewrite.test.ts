import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewriteAddresses, rewriteNames, rewritePaths } from './rewrite.ts';

test('paths below a mount are replaced, and the longest mount wins', () => {
  const rewrite = rewritePaths([
    { from: '/etc/kubernetes', to: '/pods/1/config' },
    { from: '/etc/kubernetes/pki/', to: '/pods/1/pki' },
    { from: '/var/lib/etcd', to: '/claims/a' },
  ]);
  const cases: [string, string][] = [
    ['--ca=/etc/kubernetes/pki/ca.crt', '--ca=/pods/1/pki/ca.crt'],
    ['/etc/kubernetes', '/pods/1/config'],
    ['/etc/kubernetes/scheduler.conf', '/pods/1/config/scheduler.conf'],
    ['/etc/kubernetes-other/ca.crt', '/etc/kubernetes-other/ca.crt'],
    ['/host/etc/kubernetes', '/host/etc/kubernetes'],
    ['a=/var/lib/etcd,b=/var/lib/etcd/member:c', 'a=/claims/a,b=/claims/a/member:c'],
    ['file:///var/lib/etcd/x', 'file:///var/lib/etcd/x'],
    ['plain text', 'plain text'],
  ];
  for (const [text, expected] of cases) assert.equal(rewrite(text), expected, text);
  assert.equal(rewritePaths([])('/etc/kubernetes'), '/etc/kubernetes');
});

test('addresses that mean the pod itself become the address of the pod', () => {
  const rewrite = rewriteAddresses('127.64.0.7');
  const cases: [string, string][] = [
    ['--listen=https://0.0.0.0:2379', '--listen=https://127.64.0.7:2379'],
    ['--bind-address=0.0.0.0', '--bind-address=127.64.0.7'],
    ['http://127.0.0.1:2381,http://localhost:2381', 'http://127.64.0.7:2381,http://127.64.0.7:2381'],
    ['http://127.0.0.1/healthz', 'http://127.64.0.7/healthz'],
    ['[::]:8080', '127.64.0.7:8080'],
    ['--allow=0.0.0.0/0', '--allow=0.0.0.0/0'],
    ['10.0.0.0.0', '10.0.0.0.0'],
    ['127.0.0.10', '127.0.0.10'],
    ['--user=localhost', '--user=localhost'],
  ];
  for (const [text, expected] of cases) assert.equal(rewrite(text), expected, text);
});

test('names of Services and pods become addresses, unknown names stay', () => {
  const addresses: Record<string, string> = {
    'etcd-0.etcd.team.svc': '127.64.0.2',
    'web.team.svc.cluster.local': '127.128.0.1',
  };
  const rewrite = rewriteNames((name) => addresses[name]);
  assert.equal(rewrite('a=http://etcd-0.etcd.team.svc:2380'), 'a=http://127.64.0.2:2380');
  assert.equal(rewrite('https://web.team.svc.cluster.local./x'), 'https://127.128.0.1/x');
  assert.equal(rewrite('https://other.team.svc'), 'https://other.team.svc');
});
