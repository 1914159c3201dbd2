/**
 * `POST …/tenants/demo/hold?id=`: fences all open views of the tenant on all servers; requests wait until the hold ends. The hold must be
 * requested again at least once a minute, or waiting requests are refused; the fence stays.
 * `POST …/tenants/demo/release?id=`: ends the hold.
 * `POST …/tenants/demo/remote?id=` with a server, its CA and its server name in `spec`: ends the hold; requests are passed on to that server.
 */

import { badRequest, isObject } from '@hangar/api';
import type { Answer } from '../../http/message.ts';
import { entryAnswer, wantedBy } from '../../objects/answers.ts';
import { writeOptions } from '../../request/options.ts';
import type { Call } from '../../verbs/call.ts';
import type { RemoteApiServer } from '../identity.ts';
import { sentObject } from '../kind/sent-object.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { commitTransition } from './commit-transition.ts';
import { givenMigrationId } from './migration-id.ts';
import { held, passedTo, released } from './transitions.ts';
import type { Current, Transition } from './transitions.ts';

const bodyBytesMax = 64 * 1024;

type Decision = (current: Current, id: string, body: Uint8Array) => Transition;

/** `ended`: resolves when this server has ended the requests of the tenant. */
const operation =
  (world: TenantWorld, decide: Decision, ended?: (path: string) => Promise<void>) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const id = givenMigrationId(call.query);
    const body = await call.request.body(bodyBytesMax);
    if (writeOptions(call.query, 'CreateOptions').isDryRun) throw badRequest('a migration step cannot be a dry run');
    const { entry } = await commitTransition(world, call, { decide: (current) => decide(current, id, body) });
    await ended?.(call.info.name);
    return entryAnswer(call, want, entry, 201);
  };

export const holdOperation = (world: TenantWorld, ended: (path: string) => Promise<void>) =>
  operation(world, held, ended);

export const releaseOperation = (world: TenantWorld) => operation(world, released);

export const remoteOperation = (world: TenantWorld) =>
  operation(world, (current, id, body) => passedTo(current, id, givenRemote(body)));

/** Throws 400. */
function givenRemote(body: Uint8Array): RemoteApiServer {
  const { spec } = sentObject(body, 'the body of a request to pass a tenant on');
  if (!isObject(spec)) throw badRequest('spec must be an object');
  const { server, ca, serverName } = spec;
  if (typeof server !== 'string' || !isServer(server)) throw badRequest('spec.server must be https://HOST:PORT');
  if (typeof ca !== 'string' || !ca.includes('-----BEGIN CERTIFICATE-----')) throw badRequest('spec.ca must be PEM');
  if (serverName !== undefined && (typeof serverName !== 'string' || !/^[a-z0-9.-]{1,253}$/.test(serverName))) {
    throw badRequest('spec.serverName must be a host name');
  }
  return { server, ca, ...(serverName === undefined ? {} : { serverName }) };
}

function isServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname, search, hash } = new URL(text);
  const isPlain = username === '' && password === '' && pathname === '/' && search === '' && hash === '';
  return protocol === 'https:' && isPlain && !text.endsWith('/');
}
