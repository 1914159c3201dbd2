/**
 * `POST …/tenants/demo/replica?id=…&action=…`: receives the content of a tenant that a dedicated control plane serves. Requires `create` on
 * `tenants/replica`. Every request can be repeated.
 *
 *     start      deletes the data in the range of the tenant, except its identity and keys
 *     receive    with frames as the body: writes them with their revisions. Clients see nothing of it.
 *     serve      ends the hold of the tenant: it serves the received content, which must have reached `revision`
 *     delete     deletes the data in the range, and ends the receiving
 */

import { badRequest, conflict } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { giveWay, hasCode } from '@hangar/core';
import { absent, decodeFrames, prefixRange, ReplicaWriter, successor } from '@hangar/store';
import type { CommitResult, KeyRange, Revision, Store, Write } from '@hangar/store';
import type { Answer } from '../../http/message.ts';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import type { Call } from '../../verbs/call.ts';
import { timestamp } from '../../verbs/metadata.ts';
import { upload } from '../backup/upload.ts';
import { commitTransition } from '../hold/commit-transition.ts';
import { givenMigrationId } from '../hold/migration-id.ts';
import { servedAgain } from '../hold/transitions.ts';
import { decodeIdentity } from '../identity.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import { internalRange, receivedKey, receivingKey } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantsName } from '../tenant.ts';
import { encodeMark, receivingOf } from './receiving-mark.ts';
import type { Receiving } from './receiving-mark.ts';
import { isOmitted } from './replica-view.ts';
import { givenRevision } from './source.ts';

/** In one transaction. The store delivers up to 256 events of a revision to watches from memory, and reads more from the history. */
const deletedKeysMax = 200;
/** Writers remember the leases that they granted. */
const writersMax = 64;

export class ReplicaReceiver {
  readonly #world: TenantWorld;
  /** By the path of the tenant. */
  readonly #writers = new Map<string, { readonly markRevision: Revision; readonly writer: ReplicaWriter }>();

  constructor(world: TenantWorld) {
    this.#world = world;
  }

  async create(call: Call): Promise<Answer> {
    const id = givenMigrationId(call.query);
    switch (call.query.has('action') ? call.query.text('action') : '') {
      case 'start':
        return this.#answer(call, { revision: await this.#start(call, id) });
      case 'receive':
        return this.#answer(call, { revision: await this.#receive(call, id) });
      case 'serve':
        return this.#answer(call, { revision: await this.#serve(call, id, givenRevision(call.query, 'revision')) });
      case 'delete':
        await this.#delete(call, id);
        return this.#answer(call, {});
      default:
        throw badRequest('the parameter action must be start, receive, serve or delete');
    }
  }

  #answer(call: Call, status: object): Answer | Promise<Answer> {
    const metadata = { name: call.info.name, creationTimestamp: timestamp(this.#world.clock) };
    const object = { kind: 'TenantReplica', apiVersion: call.resource.apiVersion, metadata, status };
    return objectAnswer(call, wantedBy(call), object as unknown as KubeObject, 201);
  }

  async #start(call: Call, id: string): Promise<Revision> {
    const { store } = this.#world;
    const asked = await this.#remoteTenant(call, id);
    const before = await receivingOf(store, asked.prefix);
    if (before?.id === id && !before.isDeleting) return before.revision;
    const key = receivingKey(asked.prefix);
    const begun = await store.commit([
      { type: 'put', key, value: encodeMark({ id, isDeleting: true }), expected: before?.markRevision ?? absent },
      { type: 'delete', key: receivedKey(asked.prefix) },
      isSame(asked),
    ]);
    if (!begun.committed) throw changed(asked.path);
    await this.#deleteContent(asked, { type: 'check', key, expected: begun.revision });
    const ready = await store.commit([
      { type: 'put', key, value: encodeMark({ id }), expected: begun.revision },
      isSame(asked),
    ]);
    if (!ready.committed) throw changed(asked.path);
    return 0 as Revision;
  }

  async #receive(call: Call, id: string): Promise<Revision> {
    const asked = await this.#remoteTenant(call, id);
    const receiving = await this.#receivingBy(asked, id);
    const body = upload(call.request, this.#world.clock);
    try {
      const frames = decodeFrames(body, { complete: true });
      return (await this.#writerOf(asked, receiving).apply(frames)).revision;
    } catch (error) {
      if (hasCode(error, 'ImportFailed') || hasCode(error, 'InvalidRequest') || hasCode(error, 'InvalidKey')) {
        throw badRequest(`the frames cannot be received: ${error.message}`, error);
      }
      if (hasCode(error, 'Unsupported')) {
        throw conflict(tenantsName, asked.path, 'the store of this server cannot restore revisions');
      }
      throw error;
    } finally {
      await body.return();
    }
  }

  async #serve(call: Call, id: string, revision: Revision): Promise<Revision> {
    const { store } = this.#world;
    await commitTransition(this.#world, call, {
      decide: (current) => servedAgain(current, id, revision),
      besides: async (asked) => {
        const receiving = await this.#receivingBy(asked, id);
        if (receiving.revision < revision) {
          const reason = `it has received the data up to revision ${receiving.revision}, not ${revision}`;
          throw conflict(tenantsName, asked.path, reason);
        }
        const key = receivingKey(asked.prefix);
        return [
          { type: 'delete', key, expected: receiving.markRevision },
          { type: 'delete', key: receivedKey(asked.prefix), expected: receiving.position!.modRevision },
        ];
      },
    });
    this.#writers.delete(call.info.name);
    return store.revision();
  }

  async #delete(call: Call, id: string): Promise<void> {
    const asked = await this.#remoteTenant(call, id);
    const { store } = this.#world;
    await store.commit([
      { type: 'delete', key: receivingKey(asked.prefix) },
      { type: 'delete', key: receivedKey(asked.prefix) },
      isSame(asked),
    ]);
    await this.#deleteContent(asked, isSame(asked));
  }

  /** Throws 409 if the tenant serves its data itself, or another migration holds it. */
  async #remoteTenant(call: Call, id: string): Promise<AskedTenant> {
    const asked = await askedTenant(this.#world, call);
    const { remote, heldBy } = decodeIdentity(asked.identity.value);
    if (heldBy !== undefined && heldBy !== id) {
      throw conflict(tenantsName, asked.path, `migration ${JSON.stringify(heldBy)} holds the tenant`);
    }
    if (!remote) throw conflict(tenantsName, asked.path, 'it is not passed on to another API server');
    return asked;
  }

  async #receivingBy({ path, prefix }: AskedTenant, id: string): Promise<Receiving> {
    const receiving = await receivingOf(this.#world.store, prefix);
    if (receiving?.id === id && !receiving.isDeleting) return receiving;
    throw conflict(tenantsName, path, `it does not receive data for migration ${JSON.stringify(id)}`);
  }

  #writerOf({ path, prefix }: AskedTenant, { markRevision }: Receiving): ReplicaWriter {
    const known = this.#writers.get(path);
    if (known?.markRevision === markRevision) return known.writer;
    const condition: Write = { type: 'check', key: receivingKey(prefix), expected: markRevision };
    const store = new ConditionalStore(this.#world.store, condition, () => changed(path));
    const writer = new ReplicaWriter({ store, prefix, positionKey: receivedKey(prefix), omits: isOmitted });
    this.#writers.delete(path);
    this.#writers.set(path, { markRevision, writer });
    if (this.#writers.size > writersMax) this.#writers.delete(this.#writers.keys().next().value!);
    return writer;
  }

  /** Deletes all keys except the data of the server about the tenant. */
  async #deleteContent({ path, prefix }: AskedTenant, condition: Write): Promise<void> {
    const { store, clock } = this.#world;
    const all = prefixRange(prefix);
    const internal = internalRange(prefix);
    const ranges: KeyRange[] = [
      { start: all.start, end: internal.start },
      { start: internal.end!, ...(all.end === undefined ? {} : { end: all.end }) },
    ];
    for (const range of ranges) {
      for (let { start } = range; ;) {
        const { entries } = await store.range({ ...range, start }, { limit: deletedKeysMax, keysOnly: true });
        if (entries.length === 0) break;
        const end = successor(entries.at(-1)!.key);
        const result = await store.commit([{ type: 'deleteRange', range: { start, end } }, condition]);
        if (!result.committed) throw changed(path);
        start = end;
        await giveWay(clock);
      }
    }
  }
}

/** Store whose transactions have a further condition. */
class ConditionalStore extends ForwardingStore {
  readonly #condition: Write;
  readonly #refusal: () => Error;

  constructor(store: Store, condition: Write, refusal: () => Error) {
    super(store);
    this.#condition = condition;
    this.#refusal = refusal;
  }

  override async commit(writes: readonly Write[]): Promise<CommitResult> {
    const result = await this.store.commit([...writes, this.#condition]);
    const isBroken =
      !result.committed && result.conflicts.some(({ key }) => 'key' in this.#condition && key === this.#condition.key);
    if (isBroken) throw this.#refusal();
    return result;
  }
}

const isSame = ({ identity: { key, modRevision } }: AskedTenant): Write => ({
  type: 'check',
  key,
  expected: modRevision,
});

const changed = (path: string): Error =>
  conflict(tenantsName, path, 'the tenant changed meanwhile, or receives data for another migration');
