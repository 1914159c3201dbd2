import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ControlPlane, ControlPlaneClass, Tenant } from '../kinds.ts';
import { condition, makePlane, makeReady, operate, serverOf, setStatus } from '../testing/plain-operator.ts';
import { lastingMs } from '../terminal/progress.ts';
import { KeptOutput, openTestWorld } from '../testing/test-session.ts';

/** Resolves when there is a control plane. */
async function created(client: Client): Promise<void> {
  for await (const event of client.watch(ControlPlane, { resourceVersion: '0' })) {
    if (event.type === 'ADDED') return;
  }
}

const later = { now: () => Date.parse('2026-01-01T00:05:00Z') };

describe('create', () => {
  test('waits until the control plane can be used, and writes its kubeconfig for its owner alone', async () => {
    await using world = await openTestWorld();
    const operator = new AbortController();
    const operating = operate(world.client, operator.signal);
    const { code, out, err } = await world.run('create', 'demo', '-o', 'demo.kubeconfig', '--class', 'small');
    assert.equal(code, 0, err);
    assert.equal(out, '');
    assert.match(err, /control plane demo is ready; its kubeconfig is demo\.kubeconfig\n$/);
    const path = join(world.folder, 'demo.kubeconfig');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const config = parseYaml(await readFile(path, 'utf8')).value as Record<string, never>;
    assert.equal(config['current-context'], 'hangar-demo');
    assert.deepEqual(config['clusters'], [
      { name: 'hangar-demo', cluster: { server: serverOf('demo'), 'certificate-authority-data': 'Y2E=' } },
    ]);
    const plane = await world.client.get(ControlPlane, { name: 'demo' });
    assert.deepEqual(plane.spec, { classRef: { name: 'small' } });
    operator.abort();
    await operating;
  });

  test('says what comes next, or prints the object', async () => {
    await using world = await openTestWorld();
    const operator = new AbortController();
    const operating = operate(world.client, operator.signal);
    const { out } = await world.run('create', 'demo');
    assert.equal(out, 'control plane demo is ready\n\n  hangar use demo\n  kubectl get namespaces\n');
    const named = await world.run('create', 'other', '-o', 'name');
    assert.equal(named.out, 'controlplane.controlplane.kplane.dev/other\n');
    const json = await world.run(
      'create',
      'third',
      '-o',
      'json',
      '--deletion-policy',
      'Destroy',
      '--host',
      'a.example',
    );
    assert.deepEqual(JSON.parse(json.out).spec, {
      deletionPolicy: 'Destroy',
      endpointPolicy: { hostname: 'a.example' },
    });
    operator.abort();
    await operating;
  });

  test('does not wait when it is told so', async () => {
    await using world = await openTestWorld();
    const { code, out } = await world.run('create', 'demo', '--no-wait');
    assert.deepEqual([code, out], [0, 'controlplane.controlplane.kplane.dev/demo created\n']);
    const again = await world.run('create', 'demo', '--no-wait');
    assert.equal(again.code, 1);
    assert.match(again.err, /control plane "demo" already exists\n.*hangar get demo/);
  });

  /** A clock whose seconds pass when the command prints this text, and not before, however slow the machine; an hour never passes. */
  function overWith(said: RegExp): { readonly clock: Clock; readonly err: KeptOutput } {
    const err = new KeptOutput();
    let waiting: (() => void)[] = [];
    const pass = (): void => {
      if (!said.test(err.text)) return;
      for (const callback of waiting.splice(0)) setImmediate(callback);
    };
    err.onWrite = pass;
    const after: Clock['after'] = (ms, callback) => {
      // A state that lasts is printed.
      if (ms === lastingMs) return systemClock.after(0, callback);
      if (ms < 1_000) return systemClock.after(ms, callback);
      if (ms < 3_600_000) waiting.push(callback);
      pass();
      return { cancel: () => (waiting = waiting.filter((one) => one !== callback)) };
    };
    return { err, clock: { ...systemClock, after } };
  }

  test('that is not ready in time says which condition is missing', async () => {
    await using world = await openTestWorld();
    const session = overWith(/EndpointPending/);
    const creating = world.runIn(session, 'create', 'demo', '--timeout', '10s');
    await created(world.client);
    await setStatus(world.client, 'demo', {
      conditions: [
        condition('Accepted', 'True', 'Accepted'),
        condition('Ready', 'False', 'EndpointPending', 'no endpoint\u001b[2J yet'),
      ],
    });
    const { code } = await creating;
    const err = session.err.text;
    assert.equal(code, 1);
    assert.match(
      err,
      /timed out after 10 s waiting for control plane "\S+" to become ready: Ready is False \(EndpointPending\): no endpoint\\x1b\[2J yet\n/,
    );
    assert.match(err, /hangar describe demo/);
  });

  test('does not report a state that passes as if it were an error', async () => {
    await using world = await openTestWorld();
    const creating = world.runIn(overWith(/never/), 'create', 'demo', '--timeout', '1h');
    await created(world.client);
    // This clock would print a lasting state at once; its timer is cancelled when the state passes.
    await makeReady(world.client, 'demo');
    const { code, err } = await creating;
    assert.deepEqual([code, err], [0, 'waiting for control plane demo\n']);
  });

  test('that nobody looks after says so', async () => {
    await using world = await openTestWorld();
    const session = overWith(/waiting for/);
    await world.runIn(session, 'create', 'demo', '--timeout', '2s');
    assert.match(
      session.err.text,
      /timed out after 2 s waiting for control plane "\S+" to become ready: no operator has reconciled it yet/,
    );
  });

  test('ends soon when the control plane is refused, with why', async () => {
    await using world = await openTestWorld();
    const session = overWith(/ClassNotFound/);
    const creating = world.runIn(session, 'create', 'demo', '--timeout', '1h');
    await created(world.client);
    const message = 'class "huge" does not exist\u001b]0;owned\u0007';
    await setStatus(world.client, 'demo', { conditions: [condition('Accepted', 'False', 'ClassNotFound', message)] });
    const { code } = await creating;
    assert.equal(code, 1);
    assert.match(
      session.err.text,
      /is not accepted: Accepted is False \(ClassNotFound\): class "huge" does not exist\\x1b\]0;owned\\x07/,
    );
  });

  test('goes on when a refusal was only of the first moment', async () => {
    await using world = await openTestWorld();
    const creating = world.runIn(overWith(/never/), 'create', 'demo', '--timeout', '1h');
    await created(world.client);
    await setStatus(world.client, 'demo', { conditions: [condition('Accepted', 'False', 'ClassNotFound')] });
    await makeReady(world.client, 'demo');
    assert.equal((await creating).code, 0);
  });

  test('ends when the control plane is deleted meanwhile', async () => {
    await using world = await openTestWorld();
    const session = overWith(/never/);
    const creating = world.runIn(session, 'create', 'demo', '--timeout', '1h');
    await created(world.client);
    await world.client.delete(ControlPlane, { name: 'demo' });
    await creating;
    assert.match(session.err.text, /was deleted before it became ready/);
  });

  test('is not said to have failed when Ctrl-C ended it', async () => {
    await using world = await openTestWorld();
    const interrupted = new AbortController();
    const creating = world.runIn({ signal: interrupted.signal }, 'create', 'demo', '--timeout', '1h');
    await created(world.client);
    interrupted.abort();
    const { code, err } = await creating;
    assert.equal(code, 130);
    assert.doesNotMatch(err, /hangar:/);
  });

  for (const [name, why] of [
    ['Demo', /is not a valid control plane name/],
    ['a/../b', /is not a valid control plane name/],
    ['\u001b[2J', /"\\x1b\[2J" is not a valid control plane name/],
    ['x'.repeat(64), /is not a valid control plane name/],
    ['root', /management plane/],
  ] as const) {
    test(`refuses the name ${JSON.stringify(name)} before anything is asked`, async () => {
      await using world = await openTestWorld({ isBare: true });
      const { code, err } = await world.run('create', name);
      assert.equal(code, 2);
      assert.match(err, why);
    });
  }

  test('on a server without the kind says so', async () => {
    await using world = await openTestWorld({ isBare: true });
    const { code, err } = await world.run('create', 'demo');
    assert.equal(code, 1);
    assert.match(err, /the server does not serve ControlPlanes\n(.*\n)+.*--bare/);
  });
});

describe('create with nodes', () => {
  test('creates a dedicated control plane, whose deletion policy is that of the class', async () => {
    await using world = await openTestWorld();
    const args = ['--mode', 'dedicated', '--kubernetes-version', '1.35.0', '--host', 'big.example', '--no-wait'];
    assert.equal((await world.run('create', 'big', ...args)).code, 0);
    const { spec } = await world.client.get(ControlPlane, { name: 'big' });
    assert.deepEqual(spec, {
      mode: 'Dedicated',
      endpointPolicy: { hostname: 'big.example' },
      dedicated: { version: 'v1.35.0' },
    });
    const described = await world.run('describe', 'big');
    assert.match(described.out, /^Hosted: +<none>$/m);
    assert.doesNotMatch(described.out, /^Path:|^Tenant:/m);
    const { err } = await world.run('suspend', 'big');
    assert.match(err, /mode Dedicated: the command supports only mode Virtual/);
  });

  for (const [args, message] of [
    [['--kubernetes-version', 'v1.36.4'], /requires --mode dedicated/],
    [['--mode', 'hosted'], /virtual.*dedicated/],
    [['--mode', 'dedicated', '--kubernetes-version', 'new'], /not a version such as v1\.36\.4/],
    [['--mode', 'dedicated', '--nodes'], /--nodes and --mode dedicated cannot be used together/],
  ] as const) {
    test(`refuses ${args.join(' ')}`, async () => {
      await using world = await openTestWorld();
      const { code, err } = await world.run('create', 'big', ...args);
      assert.equal(code, 2);
      assert.match(err, message);
      assert.deepEqual((await world.client.list(ControlPlane)).items, []);
    });
  }

  test('asks for nodes and their networks', async () => {
    await using world = await openTestWorld();
    const nodesOf = async (name: string, ...options: string[]) => {
      const { code, err } = await world.run('create', name, '--no-wait', ...options);
      assert.equal(code, 0, err);
      return (await world.client.get(ControlPlane, { name })).spec?.virtual?.nodes;
    };
    assert.equal(await nodesOf('none'), undefined);
    assert.deepEqual(await nodesOf('some', '--nodes'), { enabled: true });
    assert.deepEqual(await nodesOf('never', '--no-nodes'), { enabled: false });
    assert.deepEqual(await nodesOf('networks', '--node-networks', '10.0.0.0/8,fd00::/8'), {
      enabled: true,
      networks: ['10.0.0.0/8', 'fd00::/8'],
    });
  });

  test('refuses texts that are not networks', async () => {
    await using world = await openTestWorld();
    const { code, err } = await world.run('create', 'demo', '--node-networks', '10.0.0.0/8,10.1.0.0');
    assert.equal(code, 2);
    assert.match(err, /--node-networks: "10\.1\.0\.0" is not a network/);
    const both = await world.run('create', 'demo', '--no-nodes', '--node-networks', '10.0.0.0/8');
    assert.match(both.err, /--no-nodes and --node-networks cannot be used together/);
  });
});

describe('get', () => {
  test('is a table as kubectl has it', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo', { classRef: { name: 'small' }, deletionPolicy: 'Destroy' });
    await world.client.create(ControlPlane, { metadata: { name: 'a-new-one' }, spec: {} });
    const madeMs = Date.now();
    const clock = { ...systemClock, now: () => madeMs + 1_200_000 };
    const { code, out } = await world.runIn({ clock }, 'get');
    assert.equal(code, 0);
    assert.equal(
      out,
      [
        'NAME        MODE      READY     PHASE     ENDPOINT                                             AGE',
        'a-new-one   Virtual   Unknown   Pending   <none>                                               20m',
        'demo        Virtual   True      Ready     https://127.0.0.1:6443/clusters/demo/control-plane   20m',
        '',
      ].join('\n'),
    );
    const wide = await world.runIn({ clock }, 'get', 'demo', '-o', 'wide');
    assert.match(wide.out, /AGE +CLASS +PATH +EXTERNAL +DELETION\n/);
    assert.match(wide.out, /20m +small +demo +https:\/\/demo\.example\.com +Destroy\n$/);
    assert.equal((await world.run('get', '-o', 'name')).out.split('\n').length, 3);
    assert.equal(JSON.parse((await world.run('get', '-o', 'json')).out).items.length, 2);
    assert.equal(JSON.parse((await world.run('get', 'demo', '-o', 'json')).out).metadata.name, 'demo');
    assert.match((await world.run('get', 'demo', '-o', 'yaml')).out, /^kind: ControlPlane$/m);
  });

  test('has aliases, selects by labels, and prints no managed fields unless it is asked to', async () => {
    await using world = await openTestWorld();
    for (const name of ['demo', 'shop']) await makePlane(world.client, name);
    const body = { metadata: { labels: { team: 'red' } } };
    await world.client.patch(ControlPlane, { name: 'shop' }, { type: 'merge', body });
    for (const alias of ['list', 'ls']) {
      assert.match((await world.run(alias, '-l', 'team=red', '-o', 'name')).out, /^[^\n]*\/shop\n$/);
    }
    assert.deepEqual(await world.run('get', '-l', 'team=blue'), {
      code: 0,
      out: '',
      err: 'no control plane has these labels\n',
    });
    assert.equal((await world.run('get', 'demo', '-l', 'team=red')).code, 2);
    for (const words of [['get', 'demo'], ['get']]) {
      assert.doesNotMatch((await world.run(...words, '-o', 'json')).out, /managedFields/);
      assert.doesNotMatch((await world.run(...words, '-o', 'yaml')).out, /managedFields/);
      assert.match((await world.run(...words, '-o', 'yaml', '--show-managed-fields')).out, /managedFields/);
    }
  });

  test('-w prints every change in the columns of the table until it is interrupted', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const stop = new AbortController();
    const out = new KeptOutput();
    out.onWrite = () => {
      if (/^shop .* Deleting /m.test(out.text)) stop.abort();
      else if (out.text.split('\n').length === 3) {
        void world.client
          .create(ControlPlane, { metadata: { name: 'shop' }, spec: {} })
          .then(() => world.client.delete(ControlPlane, { name: 'shop' }));
      }
    };
    const { code } = await world.runIn({ out, signal: stop.signal }, 'get', '-w');
    assert.equal(code, 130);
    const [head, ...rows] = out.text.trimEnd().split('\n');
    assert.match(head!, /^NAME +MODE +READY +PHASE/);
    assert.equal(rows.filter((row) => row.startsWith('NAME')).length, 0);
    for (const row of rows) assert.equal(row.indexOf('Virtual'), head!.indexOf('MODE'), out.text);
  });

  test('is coloured on a terminal, and not with NO_COLOR', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const onTerminal = async (env: NodeJS.ProcessEnv): Promise<string> => {
      const out = new KeptOutput();
      out.terminal = { columns: 80, rows: 24 };
      await world.runIn({ out, env }, 'get');
      return out.text;
    };
    const coloured = await onTerminal({});
    assert.ok(coloured.includes('\u001b[32mTrue\u001b[0m'), coloured);
    const plainText = (await world.run('get')).out;
    // oxlint-disable-next-line no-control-regex
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), plainText);
    assert.equal(await onTerminal({ NO_COLOR: '1' }), plainText);
    assert.equal(await onTerminal({ TERM: 'dumb' }), plainText);
  });

  test('of a name that is none names those that are similar', async () => {
    await using world = await openTestWorld();
    for (const name of ['demo', 'shop']) await makePlane(world.client, name);
    const { code, err } = await world.run('get', 'dmeo');
    assert.equal(code, 1);
    assert.equal(err, 'hangar: there is no control plane "dmeo"\n        did you mean "demo"?\n');
    assert.match((await world.run('get', '../../api')).err, /no control plane "\.\.\/\.\.\/api"\n.*hangar get/);
  });

  test('of nothing says how to make one', async () => {
    await using world = await openTestWorld();
    assert.deepEqual(await world.run('get'), {
      code: 0,
      out: '',
      err: 'there is no control plane yet: hangar create NAME\n',
    });
  });
});

describe('describe', () => {
  test('is one page of everything', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo', { classRef: { name: 'small' } });
    await world.client.create(ControlPlaneClass, {
      metadata: { name: 'small' },
      spec: { deletionPolicy: 'Destroy' },
    });
    const clock = { ...systemClock, ...later };
    const { code, out } = await world.runIn({ clock }, 'describe', 'demo');
    assert.equal(code, 0);
    assert.equal(
      out.replace(/^Age: .*$/m, 'Age:'),
      `Name:           demo
Mode:           Virtual
Class:          small
Phase:          Ready
Path:           demo
Deletion:       Destroy (by its class)
Age:
Kubeconfig:     Secret kplane-cp-demo/controlplane-demo-kubeconfig
Endpoints:
  Internal:     https://127.0.0.1:6443/clusters/demo/control-plane
  External:     https://demo.example.com
Conditions:
  TYPE       STATUS   REASON       AGE   MESSAGE
  Accepted   True     Accepted     5m
  Ready      True     Reconciled   5m
Registrations:  <none>
Tenant:
  State:        Active
  Objects:      0
  Stored:       0B
  Watches:      0
  Requests:     0 reads, 0 writes
Events:         <none>
`,
    );
  });
});

describe('delete', () => {
  test('keeps the data unless it is told otherwise', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const { code, out } = await world.run('delete', 'demo');
    assert.equal(code, 0);
    assert.equal(out, 'control plane demo deleted, data retained; to use it again: hangar create demo\n');
  });

  test('that destroys asks first, and only the name is a yes', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const questions: string[] = [];
    const ask = (answer: string) => async (question: string) => {
      questions.push(question);
      return answer;
    };
    const no = await world.runIn({ ask: ask('y') }, 'delete', 'demo', '--destroy');
    assert.deepEqual([no.code, no.err], [1, 'hangar: nothing was deleted\n']);
    assert.equal((await world.client.get(ControlPlane, { name: 'demo' })).spec?.deletionPolicy, undefined);
    const yes = await world.runIn({ ask: ask('demo\n') }, 'delete', 'demo', '--destroy');
    assert.equal(yes.code, 0, yes.err);
    assert.equal(questions.length, 2);
  });

  test('that destroys is refused without --yes where there is no terminal', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo', { deletionPolicy: 'Destroy' });
    for (const words of [
      ['delete', 'demo'],
      ['delete', 'demo', '--destroy'],
    ]) {
      const { code, out, err } = await world.run(...words);
      assert.deepEqual([code, out], [1, '']);
      assert.match(
        err,
        /control plane "demo" was not deleted: .*no terminal for the confirmation\n +to destroy it .* add --yes\n$/,
      );
    }
    assert.equal((await world.client.get(ControlPlane, { name: 'demo' })).metadata.deletionTimestamp, undefined);
    assert.equal((await world.run('delete', 'demo', '--destroy', '--yes')).code, 0);
  });

  test('asks as well when the class destroys, and not with --yes', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlaneClass, { metadata: { name: 'brief' }, spec: { deletionPolicy: 'Destroy' } });
    await makePlane(world.client, 'demo', { classRef: { name: 'brief' } });
    assert.equal((await world.runIn({ ask: async () => '' }, 'delete', 'demo')).code, 1);
    const ask = (): Promise<string> => assert.fail('it was told not to ask');
    assert.equal((await world.runIn({ ask }, 'delete', 'demo', '--yes')).code, 0);
  });

  test('of a class that is gone asks as its tenant says, and says what became of the data', async () => {
    await using world = await openTestWorld();
    const { client } = world;
    const questions: string[] = [];
    const ask = async (question: string): Promise<string> => {
      questions.push(question);
      return questions.length > 1 ? 'demo' : 'no';
    };
    await makePlane(client, 'demo', { classRef: { name: 'gone' } });
    const { uid } = (await client.get(ControlPlane, { name: 'demo' })).metadata;
    const tenantSays = (deletionPolicy: string, by: string | null = 'gone') => {
      const annotations = { 'controlplane.kplane.dev/uid': uid, 'controlplane.kplane.dev/policy-by': by };
      const body = { metadata: { annotations }, spec: { deletionPolicy } };
      return client.patch(Tenant, { name: 'demo' }, { type: 'merge', body });
    };
    const described = async () => /^Deletion: +(.*)$/m.exec((await world.run('describe', 'demo')).out)?.[1];
    assert.equal(await described(), 'unknown (by its class, which cannot be read)', 'the tenant is nobody’s');
    await tenantSays('Destroy', null);
    assert.match((await described())!, /^unknown/, 'not the word of this class');
    await tenantSays('Destroy');
    assert.equal(await described(), 'Destroy (by its class)');
    assert.equal((await world.runIn({ ask }, 'delete', 'demo')).code, 1);
    assert.match(questions[0]!, /will be destroyed/);
    assert.match((await world.runIn({ ask }, 'delete', 'demo')).out, /deleted, including all data\n$/);
    await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'gone' } } });
    await tenantSays('Retain');
    // The annotation belongs to the previous control plane, not to this one.
    assert.match((await world.runIn({ ask }, 'delete', 'demo')).out, /data retained or destroyed: unknown/);
    assert.match(questions[2]!, /may be destroyed, because its class "gone" does not exist/);
  });

  test('of a class that is gone does not ask where the data stays', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo', { classRef: { name: 'gone' } });
    const { uid } = (await world.client.get(ControlPlane, { name: 'demo' })).metadata;
    const body = {
      metadata: { annotations: { 'controlplane.kplane.dev/uid': uid } },
      spec: { deletionPolicy: 'Retain' },
    };
    await world.client.patch(Tenant, { name: 'demo' }, { type: 'merge', body });
    const ask = (): Promise<string> => assert.fail('nothing is destroyed');
    assert.match((await world.runIn({ ask }, 'delete', 'demo')).out, /data retained/);
  });

  test('that waits for a finalizer says for which', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const body = { metadata: { finalizers: ['example.com/never'] } };
    await world.client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body });
    const { code, err } = await world.run('delete', 'demo', '--timeout', '300ms');
    assert.equal(code, 1);
    assert.match(
      err,
      /timed out after 0\.3 s waiting for the deletion of control plane \S+: waiting for example\.com\/never/,
    );
    assert.match((await world.run('delete', 'demo', '--no-wait')).out, /is being deleted/);
  });
});

describe('suspend and resume', () => {
  test('are the suspension of the tenant', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const suspension = async () => (await world.client.get(Tenant, { name: 'demo' })).spec?.suspension;
    assert.equal((await world.run('suspend', 'demo')).out, 'control plane demo is read-only\n');
    assert.equal(await suspension(), 'ReadOnly');
    assert.equal((await world.run('suspend', 'demo', '--offline')).out, 'control plane demo is offline\n');
    assert.equal(await suspension(), 'Offline');
    assert.equal((await world.run('resume', 'demo')).out, 'control plane demo is active\n');
    assert.equal(await suspension(), undefined);
    assert.equal((await world.run('suspend', 'demo', '--offline', '--read-only')).code, 2);
  });

  test('resume ends a quarantine, and describe shows it', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const times = { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
    const quarantine = { reason: 'EventLoopStalls', message: '3 requests blocked the server', ...times };
    await world.client.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { status: { quarantine } } });
    const described = (await world.run('describe', 'demo')).out;
    assert.match(described, /State: +Quarantined\n +Until: +2099-01-01T00:00:00Z\n +Reason: +3 requests blocked/);
    assert.equal((await world.run('resume', 'demo')).out, 'control plane demo is active\n');
    assert.equal((await world.client.get(Tenant, { name: 'demo' })).status?.quarantine, undefined);
  });

  test('need a tenant', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlane, { metadata: { name: 'far' }, spec: {} });
    assert.match((await world.run('suspend', 'far')).err, /has no tenant on this server/);
  });
});
