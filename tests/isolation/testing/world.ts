/**
 * Two isolated tenants, and clients that try to get from one into the other:
 *
 *   ada, bob    tenants with their own hosts; each has an administrator, users, accounts, tokens, and a marker that is in
 *               everything it stores: an answer with the marker of another tenant is a leak
 *   master      of the platform: in system:masters of the management plane
 *   plain       a user of the management plane without permissions there
 *
 * All requests are in process, through the router, with real keys and certificates.
 */

import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import { systemClock, systemRandom } from '@hangar/core';
import { issueCertificate } from '@hangar/pki';
import type { CertificateRequest, KeyPair } from '@hangar/pki';
import { everything, prefixRange } from '@hangar/store';
import type { Entry, Store } from '@hangar/store';
import type { StaticToken } from '../../../packages/server/src/auth/authenticate.ts';
import type { Peer } from '../../../packages/server/src/http/message.ts';
import { Outbound } from '../../../packages/server/src/outbound/index.ts';
import { tenantKeys } from '../../../packages/server/src/tenancy/keys/keys.ts';
import type { TenantKeys } from '../../../packages/server/src/tenancy/keys/keys.ts';
import { planePath, TenancyServer, tenants } from '../../../packages/server/src/testing/tenancy-server.ts';
import type { TenancyServerOptions } from '../../../packages/server/src/testing/tenancy-server.ts';
import type { Data, Received, Sent } from '../../../packages/server/src/testing/test-server.ts';

import { signed } from './tokens.ts';

export { planePath, tenants };
export type { Data, Received, Sent };

/** Credentials of a request. */
export type Shown = Pick<Sent, 'token' | 'peer' | 'headers'>;

export const master: Shown = { token: 'admin' };
export const plainToken = 'plain-token-of-the-management-plane';
export const plain: Shown = { token: plainToken };
export const nothing: Shown = { token: null };
export const garbage: Shown = { token: 'garbage' };

const plainUser: StaticToken = { token: plainToken, user: 'plain', uid: 'plain', groups: ['plainfolk'] };
export const pkiWorld = { clock: systemClock, random: systemRandom };

/** A connection with this certificate, which TLS could not verify. */
export const peerWith = ({ certificate }: Pick<KeyPair, 'certificate'>): Peer => {
  const { raw } = new X509Certificate(certificate);
  return { address: '127.0.0.1', certificate: undefined, unverified: { der: () => raw } };
};

export const withCertificate = (pair: KeyPair): Shown => ({ token: null, peer: peerWith(pair) });

/** A connection whose certificate TLS verified: it is signed by the management plane's CA. */
export const platformPeer = (commonName: string, organizations: readonly string[] = []): Peer => ({
  address: '127.0.0.1',
  certificate: {
    commonName,
    organizations: [...organizations],
    expiresAt: Date.now() + 3_600_000,
    digest: () => commonName,
    chain: () => [],
  } as unknown as NonNullable<Peer['certificate']>,
});

/** One tenant with everything that could be stolen from it. */
export class Resident {
  readonly world: World;
  readonly name: string;
  readonly plane: string;
  readonly host: string;
  readonly marker: string;
  keys!: TenantKeys;
  /** In system:masters of the tenant, by certificate. */
  administrator!: Shown;
  /** A user of the tenant without permissions, by certificate. */
  user!: Shown;
  /** Of the service account `robot`, which has all permissions in the tenant. */
  robot!: Shown;
  /** A legacy token in a Secret, of the same account. */
  legacy!: Shown;
  bootstrapper!: Shown;

  constructor(world: World, name: string, marker: string) {
    this.world = world;
    this.name = name;
    this.plane = planePath(name);
    this.host = `${name}.example.com`;
    this.marker = marker;
  }

  /** Sends a request as its administrator. */
  request(method: string, target: string, sent: Sent = {}): Promise<Received> {
    return this.world.server.request(method, this.plane + target, { ...this.administrator, ...sent });
  }

  async expect(status: number, method: string, target: string, sent: Sent = {}): Promise<Data> {
    const received = await this.request(method, target, sent);
    assert.equal(received.status, status, `${method} ${target}: ${received.text}`);
    return received.data;
  }

  get = (target: string): Promise<Data> => this.expect(200, 'GET', target);
  create = (target: string, body: object): Promise<Data> => this.expect(201, 'POST', target, { body });
  remove = (target: string): Promise<Data> => this.expect(200, 'DELETE', target);
  merge = (target: string, body: object): Promise<Data> =>
    this.expect(200, 'PATCH', target, { body, contentType: 'application/merge-patch+json' });

  /** Issues a certificate of the tenant's own CA. */
  certificate(request: Partial<CertificateRequest>): KeyPair {
    return issueCertificate(this.keys.authority, { commonName: 'x', usage: 'client', days: 1, ...request }, pkiWorld);
  }

  get prefix(): string {
    return `/registry/clusters/${this.name}/`;
  }

  /** All keys of this tenant, except those that the server writes by itself. */
  stored = (): Promise<Map<string, string>> => this.world.stored((key) => key.startsWith(this.prefix));

  /** Every kind of credential of the tenant, by name. */
  get credentials(): Readonly<Record<string, Shown>> {
    const { administrator, user, robot, legacy, bootstrapper } = this;
    return {
      'the administrator’s certificate': administrator,
      'a user’s certificate': user,
      'a service account’s token': robot,
      'a token in a Secret': legacy,
      'a bootstrap token': bootstrapper,
      'a certificate and a token together': { token: robot.token!, peer: administrator.peer! },
    };
  }
}

export class World implements AsyncDisposable {
  readonly server: TenancyServer;
  readonly ada: Resident;
  readonly bob: Resident;
  readonly #outbound: Outbound;
  #made = 0;

  private constructor(server: TenancyServer, outbound: Outbound) {
    this.server = server;
    this.#outbound = outbound;
    this.ada = new Resident(this, 'ada', marker());
    this.bob = new Resident(this, 'bob', marker());
  }

  /** The caller closes the store. */
  static async open(store: Store, options: TenancyServerOptions = {}): Promise<World> {
    const outbound = new Outbound({ allow: ['127.0.0.0/8'] });
    const server = await TenancyServer.open({
      store,
      tokens: [plainUser],
      outbound,
      ...options,
      // Thousands of refusals: the pace has a separate case.
      tenancy: { strangersPaceMs: 0, ...options.tenancy },
    });
    const world = new World(server, outbound);
    for (const one of [world.ada, world.bob]) await furnish(one);
    return world;
  }

  /** Creates a tenant for one case, with the same content as `ada` and `bob`. */
  async tenant(spec: object = {}): Promise<Resident> {
    const one = new Resident(this, `case-${++this.#made}`, marker());
    await furnish(one, spec);
    return one;
  }

  /** Returns the name of a tenant that does not exist. */
  unused = (): string => `unused-${++this.#made}`;

  ask(method: string, target: string, sent: Sent): Promise<Received> {
    return this.server.request(method, target, sent);
  }

  /** Sends a request as the platform's administrator. */
  expect(status: number, method: string, target: string, sent: Sent = {}): Promise<Data> {
    return this.server.expect(status, method, target, sent);
  }

  /** Returns the selected keys: `key` → version and value. */
  async stored(isChosen: (key: string) => boolean): Promise<Map<string, string>> {
    const { entries } = await this.server.store.range(everything);
    return new Map(
      entries
        .filter(({ key }) => isChosen(key) && !/\.hangar\/(?:usage|keys)$/.test(key))
        .map((entry) => [entry.key, `${entry.modRevision} ${textOf(entry)}`]),
    );
  }

  /** Asserts that `act` changes only keys of the given tenants. */
  async touchesOnly<T>(residents: readonly Resident[], act: () => Promise<T>): Promise<T> {
    const isElsewhere = (key: string): boolean => !residents.some(({ prefix }) => key.startsWith(prefix));
    const before = await this.stored(isElsewhere);
    const result = await act();
    assert.deepEqual(await this.stored(isElsewhere), before, 'something was written elsewhere');
    return result;
  }

  async entriesOf(prefix: string): Promise<readonly Entry[]> {
    return (await this.server.store.range(prefixRange(prefix))).entries;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    this.#outbound.close();
  }
}

const textOf = ({ value }: Entry): string => Buffer.from(value).toString('latin1');

/** Plain, or encoded as in Secrets. */
export const isMarked = (text: string, mark: string): boolean =>
  text.includes(mark) || text.includes(Buffer.from(mark.slice(0, 15)).toString('base64'));

export const marker = (): string => `m${randomBytes(8).toString('hex')}`;

export const inDefault = '/api/v1/namespaces/default';
export const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** Waits until the condition holds; followers need a moment. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`in vain: ${what}`);
}

async function furnish(one: Resident, spec: object = {}): Promise<void> {
  const { world, marker: mark } = one;
  await world.server.make(one.name, { hosts: [one.host], ...spec });
  const identity = (await world.server.store.get(`${one.prefix}.hangar/tenant`)).entry!;
  one.keys = await tenantKeys({
    store: world.server.store,
    prefix: one.prefix,
    path: one.name,
    identityRevision: identity.modRevision,
    ...pkiWorld,
  });
  one.administrator = withCertificate(one.certificate({ commonName: 'admin', organizations: ['system:masters'] }));
  one.user = withCertificate(one.certificate({ commonName: 'jane' }));
  const annotations = { mark };
  await one.create('/api/v1/namespaces', { metadata: { name: `ns-${mark}`, annotations } });
  await one.create(`${inDefault}/configmaps`, {
    metadata: { name: 'shared', annotations, labels: { mark } },
    data: { mark },
  });
  await one.create(`${inDefault}/configmaps`, { metadata: { name: `own-${mark}` }, data: { mark } });
  await one.create(`${inDefault}/secrets`, { metadata: { name: 'treasure' }, stringData: { mark } });
  const account = await one.create(`${inDefault}/serviceaccounts`, { metadata: { name: 'robot', annotations } });
  await one.create(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'robot', annotations },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
    roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'cluster-admin' },
  });
  const { status } = await one.create(`${inDefault}/serviceaccounts/robot/token`, { spec: {} });
  one.robot = { token: status.token as string };
  one.legacy = { token: await legacyToken(one, account.metadata.uid as string) };
  one.bootstrapper = { token: await bootstrapToken(one) };
  for (const [what, shown] of Object.entries(one.credentials)) {
    const { text } = await one.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: {},
      ...shown,
    });
    assert.match(text, /"username":"(?:admin|jane|system:serviceaccount:default:robot|system:bootstrap:\w+)"/, what);
  }
}

/** As the token controller writes it. */
async function legacyToken(one: Resident, uid: string): Promise<string> {
  const claims = {
    iss: 'kubernetes/serviceaccount',
    'kubernetes.io/serviceaccount/namespace': 'default',
    'kubernetes.io/serviceaccount/secret.name': 'robot-token',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': uid,
    sub: 'system:serviceaccount:default:robot',
  };
  const token = signed(one.keys.serviceAccountKey, claims);
  await one.create(`${inDefault}/secrets`, {
    metadata: {
      name: 'robot-token',
      annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': uid },
    },
    type: 'kubernetes.io/service-account-token',
    stringData: { token },
  });
  return token;
}

async function bootstrapToken(one: Resident): Promise<string> {
  const id = randomBytes(3).toString('hex');
  const secret = randomBytes(8).toString('hex');
  await one.create('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' },
  });
  return `${id}.${secret}`;
}
