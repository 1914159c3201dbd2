import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault } from '../fault.ts';
import type { Listener } from './kinds.ts';
import { gatewayEndpoint } from './listener.ts';

const reference = { namespace: 'gateways', name: 'shared' };
const plane = { name: 'prod', namespace: 'team' };
const usable: Listener = {
  name: 'tls',
  protocol: 'TLS',
  port: 8443,
  hostname: '*.clusters.example.com',
  tls: { mode: 'Passthrough' },
};
const endpointWith = (...listeners: Listener[]) =>
  gatewayEndpoint(plane, reference, {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { ...reference },
    spec: { listeners },
  });

test('the endpoint has the name and the namespace below the wildcard, and the port of the listener', () => {
  assert.deepEqual(endpointWith(usable), { host: 'prod.team.clusters.example.com', port: 8443 });
});

test('the first usable listener counts', () => {
  const others: Listener[] = [
    { ...usable, protocol: 'HTTPS' },
    { ...usable, tls: { mode: 'Terminate' } },
    { ...usable, hostname: 'one.example.com' },
    { name: 'http', protocol: 'HTTP', port: 80 },
  ];
  assert.deepEqual(endpointWith(...others, usable), { host: 'prod.team.clusters.example.com', port: 8443 });
  const none = endpointWith(...others);
  assert.ok(isFault(none));
  assert.equal(none.reason, 'GatewayListenerMissing');
});

test('a host of the reference must be one that the namespace may have, below the wildcard of a listener', () => {
  const other = { ...usable, name: 'other', port: 443, hostname: '*.example.org' };
  const gateway = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { ...reference },
    spec: { listeners: [usable, other] },
  };
  const table: [string, number | string][] = [
    ['prod.clusters.example.com', 8443],
    ['api.team.clusters.example.com', 8443],
    ['prod.example.org', 443],
    ['prod.other.clusters.example.com', 'HostNotAllowed'],
    ['clusters.example.com', 'HostNotAllowed'],
    ['prod.example.net', 'HostNotAllowed'],
  ];
  for (const [host, expected] of table) {
    const found = gatewayEndpoint(plane, { ...reference, host }, gateway);
    if (isFault(found)) assert.equal(found.reason, expected, host);
    else assert.deepEqual(found, { host, port: expected });
  }
});

test('a Gateway that does not exist is a fault', () => {
  const fault = gatewayEndpoint(plane, reference, undefined);
  assert.ok(isFault(fault));
  assert.match(fault.message, /Gateway "gateways\/shared" does not exist/);
});
