import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { testAuthority, virtualClock } from '@hangar/testkit';
import { configOfKubeconfig } from '../kubeconfig.ts';
import { kubeconfig, testFolder } from '../testing/files.ts';
import type { ExecConfig } from './exec-config.ts';
import { ExecCredentials } from './exec-credentials.ts';
import type { ExecCredentialsOptions } from './exec-credentials.ts';

const apiVersion = 'client.authentication.k8s.io/v1' as const;
const answer = (status: unknown, version: string = apiVersion): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion: version, status });

/** A plugin that records its runs, and returns credentials. */
async function plugin(
  context: TestContext,
  script: string,
  options: Partial<ExecCredentialsOptions & ExecConfig> = {},
) {
  const folder = await testFolder(context);
  const command = await folder.program('plugin', `echo run >> ${folder.path}/runs\n${script}`);
  const said: string[] = [];
  const { clock, cluster = { server: 'https://a' }, isTerminal = false, timeoutMs, ...config } = options;
  const credentials = new ExecCredentials({
    config: {
      apiVersion,
      command,
      args: [],
      env: {},
      provideClusterInfo: false,
      interactiveMode: 'IfAvailable',
      ...config,
    },
    cluster,
    clock,
    isTerminal,
    timeoutMs,
    onStderr: (chunk) => void said.push(chunk.toString()),
  });
  const runs = async (): Promise<number> =>
    (await readFile(`${folder.path}/runs`, 'utf8').catch(() => '')).split('\n').length - 1;
  return { folder, credentials, runs, said };
}

const failed = (message: RegExp) => ({ code: 'CredentialsFailed', message });
const headersOf = async ({ credentials }: { credentials: ExecCredentials }) => credentials.headers();

describe('a credential plugin', () => {
  test('is run once for all who wait, and not again before what it gave expires', async (context) => {
    const clock = virtualClock();
    const expirationTimestamp = new Date(clock.now() + 60_000).toISOString().replace('.000', '');
    const it = await plugin(context, `echo '${answer({ token: 'secret', expirationTimestamp })}'`, { clock });
    const all = await Promise.all(Array.from({ length: 20 }, () => headersOf(it)));
    assert.deepEqual(all[19], { authorization: 'Bearer secret' });
    assert.equal(await it.runs(), 1);
    await clock.advance(59_000);
    await headersOf(it);
    assert.equal(await it.runs(), 1);
    await clock.advance(1_000);
    await headersOf(it);
    assert.equal(await it.runs(), 2);
  });

  test('is run again after a refusal, but once for those of one moment', async (context) => {
    const clock = virtualClock();
    const it = await plugin(context, `echo '${answer({ token: 'secret' })}'`, { clock });
    await headersOf(it);
    assert.equal(await it.credentials.refresh(), true);
    assert.equal(await it.runs(), 1, 'it was just run');
    await clock.advance(3_600_000);
    await headersOf(it);
    assert.equal(await it.runs(), 1, 'without a time it counts until it is refused');
    assert.deepEqual(await Promise.all([it.credentials.refresh(), it.credentials.refresh()]), [true, true]);
    assert.equal(await it.runs(), 2);
  });

  test('is told for which cluster, in the variable and form of Kubernetes', async (context) => {
    const cluster = {
      server: 'https://a/prefix',
      ca: 'PEM',
      serverName: 'b',
      isInsecure: false,
      proxyUrl: 'http://p',
      disableCompression: true,
      config: { audience: 'x' },
    };
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > "$OUT"; printf '%s' "$*" > "$OUT.args"; echo '${answer({ token: 't' })}'`;
    for (const provideClusterInfo of [true, false]) {
      const { path } = await testFolder(context);
      const env = { OUT: `${path}/info` };
      await headersOf(await plugin(context, script, { cluster, provideClusterInfo, env, args: ['get', 'a b'] }));
      assert.equal(await readFile(`${path}/info.args`, 'utf8'), 'get a b');
      assert.deepEqual(JSON.parse(await readFile(`${path}/info`, 'utf8')), {
        kind: 'ExecCredential',
        apiVersion,
        spec: {
          interactive: false,
          ...(provideClusterInfo && {
            cluster: {
              server: 'https://a/prefix',
              'tls-server-name': 'b',
              'certificate-authority-data': Buffer.from('PEM').toString('base64'),
              'proxy-url': 'http://p',
              'disable-compression': true,
              config: { audience: 'x' },
            },
          }),
        },
      });
    }
  });

  test('can give a certificate, which stays the same object while it is the same', async (context) => {
    const clock = virtualClock();
    const { certificate, key } = testAuthority().client('ada');
    const folder = await testFolder(context);
    const file = await folder.write('answer', answer({ clientCertificateData: certificate, clientKeyData: key }));
    const it = await plugin(context, `cat ${file}`, { clock });
    const pair = await it.credentials.clientCertificate();
    assert.deepEqual(pair, { certificate, key });
    assert.deepEqual(await headersOf(it), {});
    await clock.advance(10_000);
    await it.credentials.refresh();
    assert.equal(await it.credentials.clientCertificate(), pair);
    assert.equal(await it.runs(), 2);
  });

  const wrong: readonly (readonly [what: string, script: string, message: RegExp])[] = [
    ['fails', 'echo "log in first" >&2; exit 3', /plugin exited with code 3: log in first/],
    ['is killed', 'kill -9 $$', /was killed by SIGKILL/],
    ['answers no JSON', 'echo hello', /returned invalid JSON/],
    ['answers something else', `echo '{"kind":"Secret"}'`, /not an ExecCredential/],
    [
      'answers in another version',
      `echo '${answer({ token: 't' }, 'client.authentication.k8s.io/v1beta1')}'`,
      /v1beta1, but/,
    ],
    ['answers no status', `echo '${answer(undefined)}'`, /without status/],
    ['answers nothing in it', `echo '${answer({})}'`, /neither a token nor a certificate/],
    ['answers half a pair', `echo '${answer({ clientCertificateData: 'x' })}'`, /certificate without a key/],
    ['answers no pair', `echo '${answer({ clientCertificateData: 'x', clientKeyData: 'y' })}'`, /is not valid PEM/],
    ['answers two headers', `echo '${answer({ token: 'a\\r\\nb: c' })}'`, /returned an invalid token/],
    ['answers no time', `echo '${answer({ token: 't', expirationTimestamp: 'soon' })}'`, /invalid expirationTimestamp/],
    ['answers without an end', 'yes', /wrote more than \d+ bytes/],
  ];
  for (const [what, script, message] of wrong) {
    test(`that ${what} is an error`, async (context) => {
      const it = await plugin(context, script);
      await assert.rejects(headersOf(it), failed(message));
    });
  }

  test('that is not installed is an error with the hint of how to, without what commands terminals', async (context) => {
    const it = await plugin(context, '', { command: 'hangar-absent', installHint: 'brew install \u001b[2Jit' });
    await assert.rejects(headersOf(it), failed(/hangar-absent is not installed\. brew install \[2Jit$/));
  });

  test('that takes too long is ended, also when a child of it holds its output', async (context) => {
    const it = await plugin(context, 'sleep 60 & sleep 60', { timeoutMs: 50 });
    const beganMs = performance.now();
    await assert.rejects(headersOf(it), failed(/returned no credentials within 0\.05 s/));
    assert.ok(performance.now() - beganMs < 10_000);
  });

  test('that fails is not run for each of many requests, but soon again', async (context) => {
    const clock = virtualClock();
    const it = await plugin(context, 'exit 1', { clock });
    for (let at = 0; at < 5; at++) await assert.rejects(headersOf(it), failed(/exited with code 1/));
    assert.equal(await it.runs(), 1);
    await clock.advance(1_000);
    await assert.rejects(headersOf(it), failed(/exited with code 1/));
    assert.equal(await it.runs(), 2);
  });

  test('has what it says to people passed on', async (context) => {
    const it = await plugin(context, `echo "open https://login" >&2; echo '${answer({ token: 't' })}'`);
    await headersOf(it);
    assert.equal(it.said.join(''), 'open https://login\n');
  });

  test('is not ended by one who gives up waiting', async (context) => {
    const gate = await testFolder(context);
    const script = `while [ ! -e ${gate.path}/go ]; do sleep 0.02; done; echo '${answer({ token: 't' })}'`;
    const it = await plugin(context, script);
    const stopping = new AbortController();
    const [given, kept] = [it.credentials.headers(stopping.signal), headersOf(it)];
    stopping.abort();
    await assert.rejects(async () => given, { code: 'Aborted' });
    await gate.write('go', '');
    assert.deepEqual(await kept, { authorization: 'Bearer t' });
    assert.equal(await it.runs(), 1);
  });

  test('whose words no program can be given is an error like the others', async (context) => {
    const it = await plugin(context, '', { args: ['a\0b'] });
    await assert.rejects(headersOf(it), failed(/could not be run/));
  });

  test('that must ask somebody cannot be run without a terminal', async (context) => {
    const it = await plugin(context, '', { interactiveMode: 'Always' });
    await assert.rejects(headersOf(it), failed(/standard input is not a terminal/));
    assert.equal(await it.runs(), 0);
  });
});

describe('the configuration of a credential plugin', () => {
  const user = (exec: object) =>
    configOfKubeconfig(
      kubeconfig({ user: { exec: { apiVersion, command: 'a', interactiveMode: 'Never', ...exec } } }),
      {
        allowExec: true,
      },
    );
  const wrong: readonly (readonly [exec: object, message: RegExp])[] = [
    [{ command: '' }, /exec\.command: must be set/],
    [{ apiVersion: '' }, /exec\.apiVersion: must be set/],
    [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, /exec\.apiVersion: .*v1alpha1" is not one of/],
    [{ interactiveMode: '' }, /exec\.interactiveMode: must be set/],
    [{ interactiveMode: 'Sometimes' }, /exec\.interactiveMode: "Sometimes" is not one of/],
    [{ env: [{ value: 'x' }] }, /exec\.env\[0\]\.name: must be set/],
    [{ env: [{ name: 'a=b', value: 'x' }] }, /is not a valid environment variable/],
    [{ args: [1] }, /exec\.args\[0\]: expected a string/],
  ];
  for (const [exec, message] of wrong) {
    test(`with ${JSON.stringify(exec)} is refused`, async () => {
      await assert.rejects(user(exec), { code: 'InvalidKubeconfig', message });
    });
  }

  test('needs no mode in v1beta1, and has a command beside the kubeconfig', async (context) => {
    const folder = await testFolder(context);
    const version = 'client.authentication.k8s.io/v1beta1';
    await folder.program('bin/plugin', `echo '${answer({ token: 'beside' }, version)}'`);
    const exec = { apiVersion: version, command: './bin/plugin' };
    const options = { allowExec: true, baseFolder: folder.path };
    const { credentials } = await configOfKubeconfig(kubeconfig({ user: { exec } }), options);
    assert.deepEqual(await credentials!.headers(), { authorization: 'Bearer beside' });
  });
});
