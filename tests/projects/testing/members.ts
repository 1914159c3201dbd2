/** A platform with two organizations, and requests of their members with credentials of the management plane. */

import { InProcessTransport, RestClient } from '@hangar/client';
import type { Client, InProcessHandler } from '@hangar/client';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { sleep, systemClock } from '@hangar/core';
import { Project } from '../../../operators/projects/src/index.ts';
import {
  createMembership,
  createOrganization,
  createProject,
  startTestPlatform,
  until,
  untilReason,
} from '../../../operators/projects/src/testing/platform.ts';
import type { TestPlatform } from '../../../operators/projects/src/testing/platform.ts';

export interface Person {
  readonly name: string;
  readonly groups?: readonly string[];
}

export const kim: Person = { name: 'kim' };
export const ed: Person = { name: 'ed' };
export const vi: Person = { name: 'vi' };
export const tom: Person = { name: 'tom', groups: ['oidc:team'] };
export const eve: Person = { name: 'eve' };
export const lee: Person = { name: 'lee' };
export const stranger: Person = { name: 'stranger' };
export const administrator: Person = { name: 'administrator', groups: ['system:masters'] };

export const api = '/apis/resourcemanager.miloapis.com/v1alpha1';
export const projectRoutes = (project: string): readonly string[] => [
  `/projects/${project}/control-plane`,
  `${api}/projects/${project}/control-plane`,
  `/clusters/${project}/control-plane`,
];

export interface Answered {
  readonly status: number;
  readonly text: string;
  json<T>(): T;
}

export interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Members extends AsyncDisposable {
  readonly platform: TestPlatform;
  /** Sends one request with the credential of a person at the management plane. */
  ask(person: Person, target: string, asked?: Asked): Promise<Answered>;
  /** Returns a client with the credential of a person. `path`: route to a control plane. */
  clientOf(person: Person, path?: string): Client;
  /** Resolves when the server answers with this status. */
  untilStatus(status: number, person: Person, target: string): Promise<void>;
}

/**
 * Organization acme has the admin kim, the editors ed and the group oidc:team, the viewer vi, and the projects shop and shop-2. Organization
 * globex has the admin eve and the project lab. The platform has the control plane plain, which is not a project.
 */
export async function startMembers(): Promise<Members> {
  await using opened = new AsyncDisposableStack();
  const platform = opened.use(await startTestPlatform());
  platform.start();
  const { client, fleet } = platform;
  for (const [organization, projects] of [
    ['acme', ['shop', 'shop-2']],
    ['globex', ['lab']],
  ] as const) {
    await createOrganization(client, organization);
    for (const project of projects) await createProject(client, project, organization);
  }
  const userOf = ({ name }: Person, role: string) => ({ userRef: { name }, roles: [{ name: role }] });
  await createMembership(client, 'kim', 'acme', userOf(kim, 'admin'));
  await createMembership(client, 'ed', 'acme', userOf(ed, 'editor'));
  await createMembership(client, 'vi', 'acme', userOf(vi, 'viewer'));
  await createMembership(client, 'team', 'acme', { groupRef: { name: 'oidc:team' }, roles: [{ name: 'editor' }] });
  await createMembership(client, 'eve', 'globex', userOf(eve, 'admin'));
  await fleet.createCluster('plain');
  for (const name of ['shop', 'shop-2', 'lab']) await untilReason(client, Project, name, 'Ready');
  await untilBound(platform.inside('shop'), 'viewer', 'vi');
  await untilBound(platform.inside('lab'), 'admin', 'eve');
  const clients = new Map<string, Client>();
  opened.defer(async () => void (await Promise.all(Array.from(clients.values(), (one) => one.close()))));
  const transportOf = ({ name, groups = [] }: Person, path = '') => {
    const certificate = { commonName: name, organizations: groups, expiresAt: Infinity };
    return new InProcessTransport({ handler: below(path, fleet.handler), peer: { address: '127.0.0.1', certificate } });
  };
  const ask = async (person: Person, target: string, asked: Asked = {}): Promise<Answered> => {
    const { method = 'GET', body, headers = {} } = asked;
    const transport = transportOf(person);
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    try {
      const answer = await transport.request({
        method,
        target,
        headers: { ...(body ? { 'content-type': type } : {}), ...headers },
        ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
      });
      const text = Buffer.from(await answer.body()).toString();
      return { status: answer.status, text, json: <T>() => JSON.parse(text) as T };
    } finally {
      await transport.close();
    }
  };
  const closing = opened.move();
  return {
    platform,
    ask,
    clientOf(person, path = '') {
      const id = JSON.stringify([person, path]);
      let found = clients.get(id);
      if (!found) clients.set(id, (found = new RestClient(transportOf(person, path), { retry: false })));
      return found;
    },
    async untilStatus(status, person, target) {
      while ((await ask(person, target)).status !== status) await sleep(systemClock, 5);
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Resolves when the role of the organization is bound to the user or group inside a project. */
export const untilBound = (inside: Client, role: string, name: string): Promise<unknown> =>
  until(
    inside,
    ClusterRoleBinding,
    { name: `resourcemanager.miloapis.com:${role}` },
    (binding) => binding?.subjects?.some((one) => one.name === name) ?? false,
  );

const below =
  (path: string, handler: InProcessHandler): InProcessHandler =>
  (request) =>
    handler({
      method: request.method,
      target: `${path}${request.target}`,
      peer: request.peer,
      header: (name) => request.header(name),
      headerValues: (name) => request.headerValues(name),
      headerNames: () => request.headerNames(),
      body: (bytesMax) => request.body(bytesMax),
    });
