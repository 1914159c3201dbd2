/**
 * A platform in the process of a test: a Hangar with tenants, the operator of control planes, and the operator of projects, which can be
 * stopped and started again. Its requests are counted.
 */

import { RestClient } from '@hangar/client';
import type { ApiObject, Client, HttpTransport, Kind } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { controlPlaneOperator, installDefinitions, pathHost } from '@hangar/controlplane-operator';
import { Logger, seededRandom, sleep, systemClock } from '@hangar/core';
import type { Manager } from '@hangar/runtime';
import { Activity, startTestFleet, testAuthority } from '@hangar/testkit';
import type { Rights, TestFleet } from '@hangar/testkit';
import { definitions, Organization, OrganizationMembership, organizationNamespace, Project } from '../index.ts';
import type { OrganizationMembershipSpec, OrganizationSpec } from '../index.ts';
import { projectsOperator } from '../operator.ts';
import { projectsOperatorRules } from '../rbac.ts';

export interface TestPlatform extends AsyncDisposable {
  readonly fleet: TestFleet;
  /** Of the management plane, as an administrator. */
  readonly client: Client;
  /** Requests of the operator of projects since `forget`, without watches: `PATCH /api/…`. */
  readonly requests: readonly string[];
  forget(): void;
  /** Starts the operator of projects. */
  start(): { stop(): Promise<void> };
  /** Resolves when both operators are idle. */
  quiet(): Promise<void>;
  /** Inside the control plane of a project, as an administrator. */
  inside(project: string): Client;
}

const withinMs = 30_000;
const pollMs = 10;
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

/** User of the operator of projects in tests with `rights`. */
const operatorUser = 'hangar-projects-operator';

/** `rights`: the operator of projects has only its own permissions on the management plane, and they are recorded. */
export async function startTestPlatform({ rights }: { readonly rights?: Rights } = {}): Promise<TestPlatform> {
  await using opened = new AsyncDisposableStack();
  const fleet = opened.use(
    await startTestFleet({ clusters: [], hasAccounts: true, authorization: rights ? 'rbac' : 'masters' }),
  );
  await installDefinitions(fleet.client);
  await installDefinitions(fleet.client, { definitions });
  if (rights) await grantRights(fleet);
  const activity = new Activity();
  let requests: string[] = [];
  const transport = activity.watched(fleet.transportOf());
  const shared: HttpTransport = { ...transport, close: () => Promise.resolve() };
  const counted: HttpTransport = {
    request(request) {
      requests.push(`${request.method} ${request.target}`);
      return transport.request(request);
    },
    close: () => Promise.resolve(),
  };
  const limited = rights && activity.watched(rights.watched(fleet.transportOf(undefined, { name: operatorUser })));
  const rest = { random: seededRandom(7), retry: false as const };
  const common = { metrics: false, health: false, random: rest.random, log: silent } as const;
  const hostOf = (through: HttpTransport) => {
    const { certificate } = testAuthority();
    return pathHost({ transport: through, internalUrl: 'https://hangar:6443', servingCa: () => certificate, ...rest });
  };
  const running = new Set<() => Promise<void>>();
  opened.defer(async () => void (await Promise.all(Array.from(running, (stop) => stop()))));
  const run = (manager: Manager): { stop(): Promise<void> } => {
    const ending = new AbortController();
    activity.add(manager.registry);
    const ended = manager.run(ending.signal).catch(() => undefined);
    const stop = async (): Promise<void> => {
      ending.abort();
      await ended;
      activity.delete(manager.registry);
      running.delete(stop);
    };
    running.add(stop);
    return { stop };
  };
  run(controlPlaneOperator({ management: new RestClient(shared, rest), host: hostOf(shared), ...common }));
  const ender = finalizeNamespaces(fleet.client);
  opened.defer(() => ender.stop());
  const closing = opened.move();
  return {
    fleet,
    client: fleet.client,
    get requests() {
      return requests.filter((one) => !one.includes('watch='));
    },
    forget: () => (requests = []),
    start() {
      const management = new RestClient(limited ?? counted, rest);
      return run(projectsOperator({ management, host: hostOf(counted), ...common }));
    },
    quiet: () => activity.idle(),
    inside: (project) => fleet.clientOf(project),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Resolves when the server has compiled the role. */
async function grantRights(fleet: TestFleet): Promise<void> {
  const { client } = fleet;
  const apiGroup = 'rbac.authorization.k8s.io';
  await client.create(ClusterRole, { metadata: { name: operatorUser }, rules: [...projectsOperatorRules] });
  await client.create(ClusterRoleBinding, {
    metadata: { name: operatorUser },
    roleRef: { apiGroup, kind: 'ClusterRole', name: operatorUser },
    subjects: [{ kind: 'User', apiGroup, name: operatorUser }],
  });
  const user = new RestClient(fleet.transportOf(undefined, { name: operatorUser }));
  const isGranted = () =>
    user.list(Project).then(
      () => true,
      () => false,
    );
  while (!(await isGranted())) await sleep(systemClock, pollMs);
}

/** Finalizes namespaces that are being deleted, after the memberships in them are deleted. */
export function finalizeNamespaces(client: Client): { stop(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const finalizeAll = async (): Promise<void> => {
    const options = { signal, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
    for await (const event of client.watch(Namespace, options)) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
      const { name, uid, resourceVersion, deletionTimestamp } = event.object.metadata;
      if (deletionTimestamp === undefined) continue;
      await client.deleteCollection(OrganizationMembership, { namespace: name! }).catch(() => undefined);
      const finalized = { metadata: { name: name!, uid: uid!, resourceVersion: resourceVersion! }, spec: {} };
      await client
        .subresource('finalize')
        .update(Namespace, finalized as Namespace)
        .catch(() => undefined);
    }
  };
  const ended = finalizeAll().catch(() => undefined);
  return {
    async stop() {
      ending.abort();
      await ended;
    },
  };
}

/** Resolves with the first state of the object for which the condition holds; undefined stands for deleted. */
export async function until<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: { readonly namespace?: string; readonly name: string },
  isReached: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  const one = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
  const { items, resourceVersion } = await client.list(kind, one);
  let last: T | undefined = items[0];
  if (isReached(last)) return last;
  try {
    for await (const event of client.watch(kind, { ...one, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      last = event.type === 'DELETED' ? undefined : event.object;
      if (isReached(last)) return last;
    }
  } catch (error) {
    const state = JSON.stringify(last, undefined, 1);
    throw new Error(`${kind.kind} ${key.name} did not reach the state: ${state}`, { cause: error });
  }
  throw new Error(`the watch of ${kind.kind} ${key.name} ended`);
}

interface WithConditions extends ApiObject {
  status?: { conditions?: readonly { type: string; reason: string; message: string }[] };
}

/** Resolves with the object when its condition has the reason. */
export const untilReason = async <T extends WithConditions>(
  client: Client,
  kind: Kind<T>,
  name: string,
  reason: string,
  type = 'Ready',
): Promise<T> =>
  (await until(
    client,
    kind,
    { name },
    (object) => object?.status?.conditions?.some((one) => one.type === type && one.reason === reason) ?? false,
  ))!;

export async function createOrganization(client: Client, name: string, spec: OrganizationSpec = {}): Promise<void> {
  await client.create(Organization, { metadata: { name }, spec });
  await untilReason(client, Organization, name, 'Ready');
}

export const createProject = (client: Client, name: string, organization: string): Promise<Project> =>
  client.create(Project, { metadata: { name }, spec: { ownerRef: { kind: 'Organization', name: organization } } });

export const createMembership = (
  client: Client,
  name: string,
  organization: string,
  spec: Omit<OrganizationMembershipSpec, 'organizationRef'>,
): Promise<OrganizationMembership> =>
  client.create(OrganizationMembership, {
    metadata: { namespace: organizationNamespace(organization), name },
    spec: { organizationRef: { name: organization }, ...spec },
  });
