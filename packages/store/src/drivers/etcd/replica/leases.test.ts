import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { GrpcError, grpcStatus } from '@hangar/http2/grpc';
import type { LeaseId } from '../../../contract.ts';
import { StoreError } from '../../../errors.ts';
import type { Request } from '../client.ts';
import { decodeMessage, encodeMessage, unframed } from '../testing/etcd-proto.ts';
import { ReplicaLeases } from './leases.ts';

/** An etcd that only has leases. */
class LeaseModel {
  readonly ttls = new Map<string, string>();
  readonly requests: string[] = [];
  isAvailable = true;

  async call<T>({ method, frame, decode }: Request<T>): Promise<T> {
    const name = method.split('/').at(-1)!;
    const { ID: id = '', TTL: ttl = '' } = decodeMessage('LeaseGrantRequest', unframed(Buffer.from(frame))) as Record<
      string,
      string
    >;
    // LeaseKeepAlive has its id in field 1.
    this.requests.push(`${name} ${name === 'LeaseGrant' ? `${id} ${ttl}` : ttl}`.trim());
    if (!this.isAvailable) throw new StoreError('Unavailable', 'no member answered');
    if (name === 'LeaseLeases') {
      return decode(encodeMessage('LeaseLeasesResponse', { leases: [...this.ttls.keys()].map((ID) => ({ ID })) }));
    }
    if (name === 'LeaseGrant' && this.ttls.has(id)) {
      const cause = new GrpcError(grpcStatus.failedPrecondition, 'etcdserver: lease already exists', {
        fate: 'answered',
      });
      throw new StoreError('InvalidRequest', 'etcd: lease already exists', { cause });
    }
    if (name === 'LeaseGrant') this.ttls.set(id, ttl);
    return decode(encodeMessage('LeaseGrantResponse', { ID: id, TTL: 60 }));
  }
}

function fixture() {
  const scheduler = new Scheduler(seededRandom(1));
  const model = new LeaseModel();
  const leases = new ReplicaLeases({ client: model, clock: scheduler, ttlMinMs: 90_000 });
  return { scheduler, model, leases };
}

const lease = (id: string, ttlMs: number) => ({ id: id as LeaseId, ttlMs });

test('a lease is granted once, with its remaining time or the minimal time', async () => {
  const { model, leases } = fixture();
  await leases.grant([lease('a', 3_600_500), lease('0b', 10), lease('a', 3_600_500)]);
  await leases.grant([lease('a', 3_000_000)]);
  assert.deepEqual(model.requests, ['LeaseGrant 10 3601', 'LeaseGrant 11 90']);
  // Another follower granted it, or etcd lost the answer.
  leases.forget();
  await leases.grant([lease('a', 3_000_000)]);
  assert.equal(model.ttls.get('10'), '3601');
});

test('all leases of etcd are renewed three times in the minimal time, also after a failure, until it is closed', async () => {
  const { scheduler, model, leases } = fixture();
  model.ttls.set('10', '90').set('11', '90');
  leases.keepAlive();
  leases.keepAlive();
  const take = async (ms: number): Promise<string[]> => {
    await scheduler.advance(ms);
    return model.requests.splice(0);
  };
  const renewals = ['LeaseLeases', 'LeaseKeepAlive 10', 'LeaseKeepAlive 11'];
  assert.deepEqual(await take(29_999), renewals);
  model.isAvailable = false;
  assert.deepEqual(await take(1), ['LeaseLeases']);
  model.isAvailable = true;
  assert.deepEqual(await take(30_000), renewals);
  leases.close();
  assert.deepEqual(await take(900_000), []);
});
