/** `hangar up` in a separate process, on a store in memory, and all its clients: over its port, by a kubeconfig. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { ControlPlane, kubeconfigSecretName, managementNamespace } from '@hangar/controlplane-operator';
import type { ControlPlaneSpec, SecretReference } from '@hangar/controlplane-operator';
import { textOf } from '../../../operators/controlplane/src/control-plane/kept-secret.ts';
import { untilReady } from '../../../operators/controlplane/src/testing/until.ts';
import { Client as RawClient } from '../../attacks/testing/client.ts';
import type { Identity } from '../../attacks/testing/client.ts';
import { Program } from '../../platform/testing/platform.ts';

export interface UpOptions {
  readonly flags?: readonly string[];
  /** Users with a token each for the management plane: `asUser`. They have no permissions so far. */
  readonly users?: readonly string[];
}

export class Up implements AsyncDisposable {
  readonly folder: string;
  readonly url: string;
  readonly program: Program;
  /** The platform's administrator, at the management plane. */
  readonly client: Client;
  /** The same, with any request. */
  readonly raw: RawClient;
  readonly #ca: string;
  readonly #opened = new AsyncDisposableStack();

  private constructor(folder: string, program: Program, client: Client, pki: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.program = program;
    this.url = program.output.stdout.split('\n', 1)[0]!.replace(/^ready /, '');
    this.client = client;
    this.#ca = pki['ca.crt']!;
    this.raw = this.rawClient({ certificate: { certificate: pki['admin.crt']!, key: pki['admin.key']! } });
    this.#opened.defer(() => client.close());
  }

  static async start({ flags = ['--store=memory'], users = [] }: UpOptions = {}): Promise<Up> {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-controlplanes-'));
    const data = join(folder, 'data');
    const tokens = join(folder, 'tokens.csv');
    const lines = users.map((user) => `${tokenOf(user)},${user},${user}-uid,\n`);
    await writeFile(tokens, lines.join(''), { mode: 0o600 });
    const more = users.length > 0 ? [`--token-file=${tokens}`] : [];
    const program = new Program('up', '--no-demo', '--port=0', `--data-dir=${data}`, ...more, ...flags);
    await program.until(() => program.output.stdout.includes('Ctrl-C'));
    const read = async (name: string): Promise<[string, string]> => [
      name,
      await readFile(join(data, 'pki', name), 'utf8'),
    ];
    const pki = Object.fromEntries(await Promise.all(['ca.crt', 'admin.crt', 'admin.key'].map(read)));
    const config = await configOfKubeconfig(await readFile(join(data, 'admin.kubeconfig'), 'utf8'));
    return new Up(folder, program, connect(config), pki);
  }

  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  rawClient(identity: Identity): RawClient {
    const client = new RawClient(Number(new URL(this.url).port), this.#ca, identity);
    this.#opened.defer(() => client.close());
    return client;
  }

  /** One of `users`, at the management plane. */
  asUser(user: string): Client {
    const credentials = { headers: () => ({ authorization: `Bearer ${tokenOf(user)}` }) };
    return this.#opened.adopt(connect({ server: this.url, ca: this.#ca, credentials }), (client) => client.close());
  }

  asRawUser(user: string): RawClient {
    return this.rawClient({ token: tokenOf(user) });
  }

  /** Creates it, and waits until it is ready. */
  async create(name: string, spec: ControlPlaneSpec = {}): Promise<ControlPlane> {
    await this.client.create(ControlPlane, { metadata: { name }, spec });
    return untilReady(this.client, name);
  }

  /** Returns the kubeconfig of a control plane's Secret, or of another one. */
  async kubeconfig(name: string, reference?: SecretReference): Promise<string> {
    const own = { namespace: managementNamespace(name), name: kubeconfigSecretName(name) };
    return textOf(await this.client.get(Secret, reference ?? own), 'kubeconfig');
  }

  /** Client of the administrator of a control plane, by its kubeconfig. */
  async inside(name: string): Promise<Client> {
    const client = connect(await configOfKubeconfig(await this.kubeconfig(name)));
    return this.#opened.adopt(client, (one) => one.close());
  }

  /** The same, with any request; paths begin at the server's root. */
  async rawInside(name: string): Promise<RawClient> {
    const { credentials } = await configOfKubeconfig(await this.kubeconfig(name));
    const certificate = await credentials?.clientCertificate?.();
    return this.rawClient(certificate ? { certificate } : {});
  }

  /** Returns the revision of the store, which every write increments. */
  async revision(): Promise<number> {
    const { resourceVersion } = await this.client.list(ControlPlane);
    return Number(resourceVersion);
  }

  /** Resolves with the revision when there were no writes or requests for a while: their absence can only be waited for. */
  async settled(): Promise<number> {
    const state = async (): Promise<[number, number]> => [
      await this.revision(),
      (await this.metric('apiserver_request_total'))[0]!,
    ];
    let [revision, requests] = await state();
    for (let quiet = 0; quiet < quietRounds;) {
      await sleep(quietMs);
      const now = await state();
      // Two requests of each check are ours.
      quiet = now[0] === revision && now[1] - requests <= 2 ? quiet + 1 : 0;
      [revision, requests] = now;
    }
    return revision;
  }

  /** Number of transactions of the store, of any size. */
  async commits(): Promise<number> {
    const { text } = await this.raw.request('GET', '/metrics');
    const lines = text.matchAll(/^etcd_requests_total\{operation="(?:create|update|delete)"[^}]*\} (\S+)$/gm);
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** The sum of all series of a family. */
  async metric(...families: readonly string[]): Promise<number[]> {
    const { text } = await this.raw.request('GET', '/metrics');
    return families.map((family) =>
      [...text.matchAll(new RegExp(`^${family}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      ),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    await this.program.stop('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}

const quietMs = 200;
const quietRounds = 3;

const tokenOf = (user: string): string => `token-of-${user}-5d1c`;

export const pathOfPlane = (name: string): string => `/clusters/${name}/control-plane`;
