/**
 * Tests the webhooks of an operator with any API server: registration with server-side apply, calls over TLS, mutation, denial, warnings,
 * conversion, and a new certificate of another authority during calls.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { defineKind, RestClient } from '@hangar/client';
import type { ApiObject, Client, HttpTransport, Kind } from '@hangar/client';
import { installCrd, testAuthority } from '@hangar/testkit';
import type { TestPair } from '@hangar/testkit';
import { defaulting, validating } from '../admission.ts';
import { certificateFolder } from '../certificates/folder.ts';
import { install } from '../configurations.ts';
import { conversion } from '../conversion.ts';
import type { Spoke } from '../conversion.ts';
import { denied } from '../denied.ts';
import { WebhookServer } from '../webhook-server.ts';

interface Widget extends ApiObject {
  spec: { size: number; colour?: string };
}
interface OldWidget extends ApiObject {
  spec: { length: string; colour?: string };
}

const names = { kind: 'Widget', plural: 'widgets', isNamespaced: true };
const Widget: Kind<Widget> = defineKind({ apiVersion: 'hooks.example.com/v1', ...names });
const OldWidget: Kind<OldWidget> = defineKind({ apiVersion: 'hooks.example.com/v1beta1', ...names });

const v1beta1: Spoke<OldWidget, Widget> = {
  toHub({ metadata, spec: { length, ...spec } }) {
    return { metadata, spec: { ...spec, size: Number(length) } };
  },
  fromHub({ metadata, spec: { size, ...spec } }) {
    if (size === 13) throw denied('13 has no length');
    return {
      metadata: { ...metadata, labels: { ...metadata.labels, old: 'yes' } },
      spec: { ...spec, length: String(size) },
    };
  },
};

const version = (name: string, properties: object): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { colour: { type: 'string' }, ...properties } } },
    },
  },
});

const definition = {
  metadata: { name: 'widgets.hooks.example.com' },
  spec: {
    group: 'hooks.example.com',
    scope: 'Namespaced' as const,
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      version('v1', { size: { type: 'integer' } }),
      version('v1beta1', { length: { type: 'string' } }),
    ] as never,
  },
};

const operatorsHooks = (): WebhookServer['hooks'] => [
  defaulting(Widget, ({ object, request }) => {
    object.spec.colour ??= request.dryRun ? 'dry' : 'red';
  }),
  validating(Widget, {
    create({ object, request }) {
      const causes = [{ field: 'spec.size', reason: 'FieldValueInvalid', message: 'must not be negative' }];
      if (object.spec.size < 0) throw denied('the size is negative', { reason: 'Invalid', causes });
      if (object.spec.size === 99) throw new Error('a mistake');
      return object.spec.size > 50 ? [`${request.name} is large`] : [];
    },
    update({ object, oldObject }) {
      if (object.spec.size < oldObject.spec.size) throw denied(`${oldObject.spec.size} must not shrink`);
    },
    delete({ oldObject }) {
      if (oldObject.metadata.annotations?.['protected'] === 'yes') throw denied('it is protected');
    },
  }),
];

/** A folder with certificates that are replaced file by file. */
async function certificates(first: TestPair): Promise<{ folder: string; put(pair: TestPair): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-webhooks-'));
  const put = async ({ certificate, key }: TestPair): Promise<void> => {
    for (const [name, text] of Object.entries({ 'tls.key': key, 'tls.crt': certificate })) {
      await writeFile(join(folder, `.${name}`), text);
      await rename(join(folder, `.${name}`), join(folder, name));
    }
  };
  await put(first);
  return { folder, put };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isSo()); waited += 20) {
    assert.ok(waited < 20_000, 'not so in time');
    await pause(20);
  }
}

const widget = (name: string, size: number, annotations: Record<string, string> = {}) => ({
  metadata: { name, namespace: 'default', annotations },
  spec: { size },
});

const key = (name: string) => ({ name, namespace: 'default' });

export function webhookSuite(server: string, transportOf: () => Promise<HttpTransport>): void {
  test(`${server} calls an operator's webhooks`, async (t) => {
    const warnings: string[] = [];
    const client = new RestClient(await transportOf(), { onWarning: (text) => warnings.push(text), retry: false });
    const authority = testAuthority();
    const { folder, put } = await certificates(authority.serving());
    const hooks = new WebhookServer({ port: 0, host: '127.0.0.1', certificates: certificateFolder(folder) }).register(
      ...operatorsHooks(),
      conversion({ group: 'hooks.example.com', kind: 'Widget' }, { hub: 'v1', convert: { v1beta1 } }),
    );
    const ended = new AbortController();
    const serving = hooks.start(ended.signal);
    await until(() =>
      hooks.started().then(
        () => true,
        () => false,
      ),
    );
    const installed = (caBundle: string): Promise<void> =>
      install(client, hooks, {
        name: 'widgets',
        url: `https://127.0.0.1:${hooks.port}`,
        caBundle,
        fieldManager: 'operator',
      });
    try {
      await installCrd(client, definition);
      await installed(authority.certificate);
      await until(async () => (await dryRun(client)) === 'dry');
      await admission(t, client, warnings);
      await conversions(t, client);
      await rotation(t, client, { put, installed, oldCa: authority.certificate });
    } finally {
      ended.abort();
      await serving;
      await rm(folder, { recursive: true });
    }
  });
}

/** Returns the colour of a widget in a dry run; another value until both webhooks and the conversion are active. */
async function dryRun(client: Client): Promise<string> {
  try {
    const refused = client.create(Widget, widget('probe', -1), { dryRun: true });
    const isRefused = await refused.then(
      () => false,
      () => true,
    );
    return isRefused ? ((await client.create(Widget, widget('probe', 1), { dryRun: true })).spec.colour ?? '') : '';
  } catch {
    return '';
  }
}

async function admission(t: TestContext, client: Client, warnings: readonly string[]): Promise<void> {
  const by = 'admission webhook "validate.widget.v1.hooks.example.com" denied the request';

  await t.test('what is created gets its defaults', async () => {
    const created = await client.create(Widget, widget('a', 5, { protected: 'yes' }));
    assert.deepEqual(created.spec, { size: 5, colour: 'red' });
  });

  await t.test('a refusal is told with its text, its reason and its fields', async () => {
    await assert.rejects(client.create(Widget, widget('b', -1)), (error: { status: Record<string, unknown> }) => {
      const { message, reason, code, details } = error.status;
      assert.deepEqual([message, reason, code], [`${by}: the size is negative`, 'Invalid', 422]);
      assert.deepEqual((details as { causes: unknown }).causes, [
        { reason: 'FieldValueInvalid', message: 'must not be negative', field: 'spec.size' },
      ]);
      return true;
    });
  });

  await t.test('a handler’s mistake refuses, and is not told', async () => {
    await assert.rejects(client.create(Widget, widget('b', 99)), (error: Error & { status: { code: number } }) => {
      assert.match(error.message, /its log has the details/);
      assert.equal(error.status.code, 500);
      return true;
    });
  });

  await t.test('a warning is told', async () => {
    await client.create(Widget, widget('large', 51));
    assert.deepEqual(warnings, ['large is large']);
  });

  await t.test('an update is judged by what was', async () => {
    const patch = (size: number) => client.patch(Widget, key('a'), { type: 'merge', body: { spec: { size } } });
    assert.equal((await patch(6)).spec.size, 6);
    await assert.rejects(patch(4), { message: `${by}: 6 must not shrink` });
  });

  await t.test('a deletion is judged by what is to be deleted', async () => {
    await assert.rejects(client.delete(Widget, key('a')), { message: `${by}: it is protected` });
    assert.equal(await client.delete(Widget, key('large')), true);
  });
}

async function conversions(t: TestContext, client: Client): Promise<void> {
  await t.test('what was made in one version is there in the other, both ways', async () => {
    const old = await client.get(OldWidget, key('a'));
    assert.deepEqual([old.apiVersion, old.spec], ['hooks.example.com/v1beta1', { length: '6', colour: 'red' }]);
    assert.deepEqual(old.metadata.labels, { old: 'yes' });
    await client.create(OldWidget, {
      metadata: { name: 'old', namespace: 'default' },
      spec: { length: '7', colour: 'blue' },
    });
    assert.deepEqual((await client.get(Widget, key('old'))).spec, { size: 7, colour: 'blue' });
  });

  await t.test('a list is converted as a whole', async () => {
    const { items } = await client.list(OldWidget, { namespace: 'default' });
    assert.deepEqual(
      items.map(({ metadata, spec }) => [metadata.name, spec.length]),
      [
        ['a', '6'],
        ['old', '7'],
      ],
    );
  });

  await t.test('a conversion that is refused says why', async () => {
    await client.create(Widget, widget('unlucky', 13));
    await assert.rejects(client.get(OldWidget, key('unlucky')), { message: /13 has no length/ });
    await client.delete(Widget, key('unlucky'));
  });
}

interface Rotation {
  put(pair: TestPair): Promise<void>;
  installed(caBundle: string): Promise<void>;
  readonly oldCa: string;
}

async function rotation(t: TestContext, client: Client, { put, installed, oldCa }: Rotation): Promise<void> {
  await t.test('another certificate of another authority comes while it is called, and no call fails', async () => {
    const next = testAuthority('next');
    let isOver = false;
    let calls = 0;
    const calling = (async () => {
      while (!isOver) {
        const { spec } = await client.create(Widget, widget(`r-${calls++}`, 1), { dryRun: true });
        assert.equal(spec.colour, 'dry');
      }
    })();
    try {
      await installed(`${oldCa}\n${next.certificate}`);
      const enough = async (more: number): Promise<void> => {
        const wanted = calls + more;
        await Promise.race([until(async () => calls >= wanted), calling]);
      };
      await pause(500);
      await put(next.serving());
      await enough(20);
      await pause(500);
      // A changed configuration makes the API server reconnect.
      await installed(next.certificate);
      await pause(500);
      await enough(20);
    } finally {
      isOver = true;
      await calling;
    }
    assert.ok(calls >= 40);
  });
}
