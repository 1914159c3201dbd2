/** A tenant as one side of a migration: the subresources of `Tenant` over HTTP. */

import { refusalOf } from '@hangar/client';
import type { Client, HttpAnswer } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { decodeFrames, encodeRequest, StoreError } from '@hangar/store';
import type { ReplicaDigest, ReplicaFrame, Revision } from '@hangar/store';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import type {
  FramesOptions,
  MigrationId,
  RemoteApiServer,
  ReplicaKeys,
  TenantReplica,
  TenantReplicaState,
} from '../migration/contract.ts';
import { Tenant } from './tenant.ts';

/** Rights on the host that these requests need. */
export const tenantReplicaRules: readonly PolicyRule[] = [
  {
    apiGroups: ['tenancy.hangar.dev'],
    resources: ['tenants/hold', 'tenants/keys', 'tenants/release', 'tenants/remote', 'tenants/replica'],
    verbs: ['create'],
  },
  { apiGroups: ['tenancy.hangar.dev'], resources: ['tenants/replica'], verbs: ['get'] },
];

/** A progress frame arrives every second. */
const silenceMs = 30_000;

/** `path`: name of the Tenant. Refusals are those of the client: `Conflict` if another migration holds the tenant. */
export function tenantReplica(host: Client, path: string): TenantReplica {
  return new HttpTenantReplica(host, path);
}

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly subresource: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly isLong?: boolean;
  readonly silenceMs?: number;
  readonly signal: AbortSignal;
}

class HttpTenantReplica implements TenantReplica {
  readonly #host: Client;
  readonly #path: string;

  constructor(host: Client, path: string) {
    this.#host = host;
    this.#path = path;
  }

  state(signal: AbortSignal): Promise<TenantReplicaState> {
    return this.#status({ method: 'GET', subresource: 'replica', query: { state: 'true' }, signal });
  }

  async keys(signal: AbortSignal): Promise<ReplicaKeys> {
    const keys = await this.#status<Omit<ReplicaKeys, 'issuer'> & { readonly serviceAccountIssuer: string }>({
      method: 'POST',
      subresource: 'keys',
      signal,
    });
    const { authority, frontProxyAuthority, serviceAccountKey, serviceAccountIssuer: issuer, servingCa } = keys;
    return { authority, frontProxyAuthority, serviceAccountKey, issuer, servingCa };
  }

  async *frames(signal: AbortSignal, { after }: FramesOptions = {}): AsyncGenerator<ReplicaFrame, void, void> {
    const query = after === undefined ? {} : { after: String(after) };
    const answer = await this.#answer({
      method: 'GET',
      subresource: 'replica',
      query,
      isLong: true,
      silenceMs,
      signal,
    }).catch((error: unknown) => {
      if (!hasCode(error, 'Expired') && !hasCode(error, 'Gone')) throw error;
      throw new StoreError('Compacted', `the changes after revision ${after} are no longer stored`, { cause: error });
    });
    try {
      yield* decodeFrames(answer.stream(), { complete: false });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  digest(signal: AbortSignal): Promise<ReplicaDigest> {
    return this.#status({ method: 'GET', subresource: 'replica', query: { digest: 'true' }, isLong: true, signal });
  }

  async hold(id: MigrationId, signal: AbortSignal): Promise<TenantReplicaState> {
    await this.#status({ method: 'POST', subresource: 'hold', query: { id }, signal });
    return this.state(signal);
  }

  async release(id: MigrationId, signal: AbortSignal): Promise<void> {
    await this.#status({ method: 'POST', subresource: 'release', query: { id }, signal });
  }

  async passTo(id: MigrationId, { server, ca, serverName }: RemoteApiServer, signal: AbortSignal): Promise<void> {
    const spec = { server, ca, ...(serverName === undefined ? {} : { serverName }) };
    const body = Buffer.from(JSON.stringify({ spec }));
    await this.#status({ method: 'POST', subresource: 'remote', query: { id }, body, signal });
  }

  async startReceiving(id: MigrationId, signal: AbortSignal): Promise<void> {
    await this.#act(id, 'start', { isLong: true, signal });
  }

  async receive(id: MigrationId, frames: readonly ReplicaFrame[], signal: AbortSignal): Promise<Revision> {
    const { revision } = await this.#act<{ revision: Revision }>(id, 'receive', {
      body: encodeRequest(frames),
      isLong: true,
      signal,
    });
    return revision;
  }

  async serveReceived(id: MigrationId, revision: Revision, signal: AbortSignal): Promise<void> {
    await this.#act(id, 'serve', { query: { revision: String(revision) }, signal });
  }

  async deleteData(id: MigrationId, signal: AbortSignal): Promise<void> {
    await this.#act(id, 'delete', { isLong: true, signal });
  }

  #act<Status>(
    id: MigrationId,
    action: string,
    { query, ...asked }: Omit<Asked, 'method' | 'subresource'>,
  ): Promise<Status> {
    return this.#status({ method: 'POST', subresource: 'replica', query: { id, action, ...query }, ...asked });
  }

  async #status<Status>(asked: Asked): Promise<Status> {
    const answer = await this.#answer(asked);
    const { status } = JSON.parse(Buffer.from(await answer.body()).toString()) as { status: Status };
    return status;
  }

  async #answer({ subresource, query = {}, body, ...asked }: Asked): Promise<HttpAnswer> {
    const parameters = new URLSearchParams(query).toString();
    const path = `/apis/${Tenant.apiVersion}/${Tenant.plural}/${encodeURIComponent(this.#path)}/${subresource}`;
    const headers = { accept: 'application/json', 'content-type': 'application/octet-stream' };
    const target = parameters === '' ? path : `${path}?${parameters}`;
    const answer = await this.#host.raw({ target, headers, ...(body && { body }), ...asked });
    if (answer.status >= 300) throw await refusalOf(answer);
    return answer;
  }
}
