/** Side channels of answers: the existence of other tenants must not be revealed by texts, headers, or timing. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { TenancyServer } from '../../../packages/server/src/testing/tenancy-server.ts';
import { attempts } from '../testing/requests.ts';
import {
  isMarked,
  inDefault,
  garbage,
  nothing,
  pkiWorld,
  plain,
  planePath,
  tenants,
  withCertificate,
} from '../testing/world.ts';
import type { Received, Resident, Sent, Shown, World } from '../testing/world.ts';

/** Everything that a client sees of an answer. */
const seen = ({ status, headers, text }: Received, name: string): string =>
  JSON.stringify([status, headers, text]).replaceAll(name, '<name>');

/** Malformed requests, which may fail before authentication. */
const clumsy: readonly (Sent & { readonly method: string; readonly target: string })[] = [
  { method: 'GET', target: '/api/v1/namespaces/%zz' },
  { method: 'GET', target: '/api/v1/namespaces/%zz/configmaps/%' },
  { method: 'GET', target: '/api/v1/configmaps?limit=abc&watch=maybe&resourceVersion=x&fieldSelector=%%%' },
  { method: 'GET', target: '/api/v1/configmaps?pretty=1' },
  { method: 'GET', target: '/api/v1/configmaps', headers: { accept: 'application/vnd.kubernetes.protobuf' } },
  { method: 'GET', target: '/api/v1/configmaps', headers: { accept: 'nonsense' } },
  { method: 'GET', target: '/api/v1/configmaps', headers: { 'accept-encoding': 'gzip' } },
  { method: 'GET', target: '/api/v1/configmaps', headers: { 'impersonate-user': '', 'impersonate-group': 'x' } },
  { method: 'GET', target: '/api/v1/configmaps', headers: { 'impersonate-extra-%zz': 'x' } },
  { method: 'POST', target: `${inDefault}/configmaps`, body: '{', contentType: 'nonsense/nonsense' },
  { method: 'POST', target: `${inDefault}/configmaps`, body: 'x'.repeat(100_000) },
  { method: '', target: '/api' },
  { method: 'GET', target: '' },
  { method: 'GET', target: '?watch=true' },
  { method: 'GET', target: `/${'x'.repeat(10_000)}` },
  { method: 'GET', target: '/api/v1/watch/configmaps?timeoutSeconds=abc' },
  { method: 'CONNECT', target: '/api' },
];

export function revelationCases(get: () => World): void {
  describe('whether a tenant is there', () => {
    /** Each in another state; the last two do not exist. */
    async function states(): Promise<string[]> {
      const world = get();
      const [open, readOnly, offline, retained, closed] = await Promise.all(
        Array.from({ length: 5 }, () => world.tenant()),
      );
      const suspend = (one: Resident, suspension: string) =>
        world.expect(200, 'PATCH', `${tenants}/${one.name}`, {
          body: { spec: { suspension } },
          contentType: 'application/merge-patch+json',
        });
      await suspend(readOnly!, 'ReadOnly');
      await suspend(offline!, 'Offline');
      await world.expect(200, 'DELETE', `${tenants}/${retained!.name}`);
      world.server.tenancy.open.drop(closed!.name);
      const unused = [world.unused(), 'x'.repeat(63)];
      return [open!, readOnly!, offline!, retained!, closed!].map(({ name }) => name).concat(unused);
    }

    const outsiders: Readonly<Record<string, (world: World) => Shown>> = {
      'to somebody who shows nothing': () => nothing,
      'to a token that was made up': () => garbage,
      'to a certificate that was made up': () => {
        const own = createAuthority('hangar-tenant-ca', 1, pkiWorld);
        return withCertificate(issueCertificate(own, { commonName: 'x', usage: 'client', days: 1 }, pkiWorld));
      },
      'to the administrator of another tenant': ({ ada }) => ada.administrator,
      'to an account of another tenant': ({ ada }) => ada.robot,
      'to a bootstrap token of another tenant': ({ ada }) => ada.bootstrapper,
      'to a user of the management plane without rights': () => plain,
    };
    for (const [whom, show] of Object.entries(outsiders)) {
      test(`is not told ${whom}: all answers are the same, word for word, header for header`, async () => {
        const world = get();
        const names = await states();
        const shown = show(world);
        for (const { method, target, ...sent } of [...clumsy, ...attempts]) {
          const headers = { ...sent.headers, ...shown.headers };
          const answers = new Map<string, string>();
          for (const name of names) {
            const received = await world.ask(method, planePath(name) + target, { ...sent, ...shown, headers });
            answers.set(name, seen(received, name));
          }
          assert.equal(new Set(answers.values()).size, 1, `${method} ${target}: ${[...answers].join('\n')}`);
        }
      });
    }

    test('is not told by how long an answer takes', async () => {
      const { ada, server } = get();
      // The same tenants behind a router with the pace of a real one.
      await using paced = await TenancyServer.open({ store: server.store });
      const names = await states();
      const [open, readOnly, offline, retained, closed, unused] = names as [
        string,
        string,
        string,
        string,
        string,
        string,
      ];
      const kinds = { open, readOnly, offline, retained, closed, unused };
      const tookMs: Record<string, number[]> = {};
      for (const shown of [garbage, ada.robot, ada.administrator]) {
        const ask = async (kind: string, name: string): Promise<void> => {
          if (kind === 'closed') paced.tenancy.open.drop(name);
          const begunMs = performance.now();
          await paced.answer('GET', `${planePath(name)}${inDefault}/configmaps`, shown);
          (tookMs[kind] ??= []).push(performance.now() - begunMs);
        };
        for (const [kind, name] of Object.entries(kinds)) await ask(kind, name);
        for (const kind of Object.keys(tookMs)) tookMs[kind]!.pop();
        // Concurrent and interleaved: other load of this machine affects all of them alike.
        await Promise.all(
          Array.from({ length: 5 }, async () => {
            for (const [kind, name] of Object.entries(kinds)) await ask(kind, name);
          }),
        );
      }
      const medians = Object.fromEntries(
        Object.entries(tookMs).map(([kind, all]) => [kind, all.toSorted((a, b) => a - b)[all.length >> 1]!]),
      );
      const all = Object.values(medians);
      // All are answered in the same interval; delays of this machine affect some of each.
      assert.ok(Math.max(...all) - Math.min(...all) < 50, JSON.stringify(medians));
      assert.ok(Math.min(...all) > 90, JSON.stringify(medians));
    });

    test('is told to its own users without waiting', async () => {
      const { ada, server } = get();
      await using paced = await TenancyServer.open({ store: server.store });
      const target = `${ada.plane}${inDefault}/configmaps/shared`;
      await paced.request('GET', target, ada.administrator);
      const took: number[] = [];
      for (let at = 0; at < 9; at++) {
        const begunMs = performance.now();
        assert.equal((await paced.request('GET', target, ada.administrator)).status, 200);
        took.push(performance.now() - begunMs);
      }
      assert.ok(took.toSorted((a, b) => a - b)[4]! < 50, String(took));
    });
  });

  describe('what is said inside of a tenant', () => {
    test('of itself, its health and its figures names no other one', async () => {
      const world = get();
      const { ada, bob } = world;
      for (const path of [
        '/',
        '/metrics',
        '/version',
        '/readyz?verbose',
        '/livez?verbose',
        '/healthz?verbose',
        '/api',
        '/apis',
        '/openapi/v2',
        '/openapi/v3',
        '/.well-known/openid-configuration',
        '/debug/pprof/',
        '/logs/',
        '/statusz',
        '/flagz',
        '/api/v1/componentstatuses',
      ]) {
        const { text, headers } = await ada.request('GET', path);
        const all = text + JSON.stringify(headers);
        assert.ok(!isMarked(all, bob.marker) && !/\bbob\b|case-\d/.test(all), path);
      }
    });

    test('in figures says nothing of the process that all share', async () => {
      const world = get();
      const { text } = await world.ada.request('GET', '/metrics');
      assert.match(text, /^apiserver_request_total\{/m);
      assert.doesNotMatch(text, /^(?:process_|nodejs_|hangar_)/m);
      const { text: own } = await world.ask('GET', '/metrics', {});
      assert.match(own, /^process_/m, 'there is something to hide');
    });

    test('in errors names no keys, no other tenants and nothing of the machine', async () => {
      const { ada, bob } = get();
      for (const [method, target, sent] of [
        ['GET', `${inDefault}/configmaps/${'x'.repeat(5_000)}`, {}],
        ['GET', `/api/v1/namespaces/${'x'.repeat(70_000)}/configmaps/x`, {}],
        ['GET', '/api/v1/configmaps?resourceVersion=abc', {}],
        ['GET', '/api/v1/configmaps?continue=abc', {}],
        ['GET', '/api/v1/configmaps?limit=1&resourceVersion=1', {}],
        ['GET', `${inDefault}/configmaps/\u0000`, {}],
        ['GET', `${inDefault}/configmaps/a%00b`, {}],
        ['POST', `${inDefault}/configmaps`, { body: '{"metadata":' }],
        ['POST', `${inDefault}/configmaps`, { body: { metadata: { name: 'x' }, data: { x: 1 } } }],
        [
          'POST',
          `${inDefault}/configmaps`,
          { body: { metadata: { name: 'x' }, data: { big: 'x'.repeat(2_000_000) } } },
        ],
        ['PUT', `${inDefault}/configmaps/none`, { body: { metadata: { name: 'none', resourceVersion: '1' } } }],
        [
          'PATCH',
          `${inDefault}/configmaps/shared`,
          { body: [{ op: 'remove', path: '/nowhere' }], contentType: 'application/json-patch+json' },
        ],
        ['DELETE', '/api/v1/namespaces/default', {}],
        ['POST', '/api/v1/namespaces/none/configmaps', { body: { metadata: { name: 'x' } } }],
        ['GET', `${inDefault}/services/none/proxy/`, {}],
        ['GET', '/api/v1/nodes/none/proxy/', {}],
        ['GET', `${inDefault}/pods/none/log`, {}],
      ] as const) {
        const { status, text } = await ada.request(method, target, sent as Sent);
        assert.ok(status >= 400 && status !== 500, `${method} ${target.slice(0, 80)}: ${status} ${text.slice(0, 200)}`);
        assert.ok(
          !text.includes('/registry/') && !isMarked(text, bob.marker) && !/\.ts:\d/.test(text),
          text.slice(0, 500),
        );
      }
    });

    test('figures of the management plane name tenants by their path, and nothing that is inside of them', async () => {
      const world = get();
      const text = world.server.tenancy.metricsText();
      for (const { marker } of [world.ada, world.bob]) assert.ok(!text.includes(marker));
      const { text: own } = await world.ask('GET', '/metrics', {});
      for (const { marker } of [world.ada, world.bob]) assert.ok(!own.includes(marker));
    });
  });
}
