/**
 * Maps etcd's errors to the code of the contract, whether the call may have been executed, and the remedy. etcd distinguishes its errors by
 * text alone; several of them share one gRPC status.
 */

import { hasCode } from '@hangar/core';
import { GrpcError, grpcStatus } from '@hangar/http2/grpc';
import { StoreError } from '../../errors.ts';
import type { StoreErrorCode } from '../../errors.ts';

/**
 * `elsewhere`: try another member. `again`: retry the same one later. `authenticate`: get a new token. `less`: the answer exceeds the
 * message limit, and would again.
 */
type Remedy = 'none' | 'again' | 'elsewhere' | 'authenticate' | 'less';

interface Meaning {
  readonly code: StoreErrorCode;
  readonly executed: 'no' | 'perhaps';
  readonly remedy: Remedy;
}

export interface Verdict extends Meaning {
  readonly error: StoreError;
}

const refused = (code: StoreErrorCode): Meaning => ({ code, executed: 'no', remedy: 'none' });
const unavailable = (executed: 'no' | 'perhaps', remedy: Remedy): Meaning => ({
  code: 'Unavailable',
  executed,
  remedy,
});
const tokenExpired: Meaning = { code: 'Unauthenticated', executed: 'no', remedy: 'authenticate' };

const meanings: Readonly<Record<string, Meaning>> = {
  'etcdserver: mvcc: required revision has been compacted': refused('Compacted'),
  'etcdserver: mvcc: required revision is a future revision': refused('FutureRevision'),
  'etcdserver: mvcc: database space exceeded': refused('StorageFull'),
  'etcdserver: requested lease not found': refused('LeaseNotFound'),
  'etcdserver: too large lease TTL': refused('InvalidRequest'),
  'etcdserver: request is too large': refused('ValueTooLarge'),
  'etcdserver: too many requests': refused('Overloaded'),
  'etcdserver: too many operations in txn request': refused('InvalidRequest'),
  'etcdserver: duplicate key given in txn request': refused('InvalidRequest'),
  'etcdserver: key is not provided': refused('InvalidKey'),
  'etcdserver: authentication failed, invalid user ID or password': refused('Unauthenticated'),
  'etcdserver: permission denied': refused('Unauthenticated'),
  'etcdserver: user name is empty': tokenExpired,
  'etcdserver: invalid auth token': tokenExpired,
  'etcdserver: revision of auth store is old': tokenExpired,
  // Answered before the request is proposed, because every call requires a member with a leader.
  'etcdserver: no leader': unavailable('no', 'elsewhere'),
  'raft proposal dropped': unavailable('no', 'elsewhere'),
  'etcdserver: not capable': unavailable('no', 'elsewhere'),
  'etcdserver: rpc not supported for learner': unavailable('no', 'elsewhere'),
  'etcdserver: unhealthy cluster': unavailable('no', 'elsewhere'),
  'etcdserver: leader changed': unavailable('perhaps', 'again'),
  'etcdserver: server stopped': unavailable('perhaps', 'elsewhere'),
  'etcdserver: request timed out': unavailable('perhaps', 'elsewhere'),
  'etcdserver: request timed out, possibly due to previous leader failure': unavailable('perhaps', 'elsewhere'),
  'etcdserver: request timed out, possibly due to connection lost': unavailable('perhaps', 'elsewhere'),
  'etcdserver: request timed out, waiting for the applied index took too long': unavailable('perhaps', 'elsewhere'),
  'etcdserver: corrupt cluster': refused('StorageDamaged'),
};

/** For texts that are not in the table: newer members, or the gRPC library below etcd. */
const meaningsByStatus: Readonly<Record<number, Meaning>> = {
  [grpcStatus.invalidArgument]: refused('InvalidRequest'),
  [grpcStatus.notFound]: refused('InvalidRequest'),
  [grpcStatus.alreadyExists]: refused('InvalidRequest'),
  [grpcStatus.failedPrecondition]: refused('InvalidRequest'),
  [grpcStatus.outOfRange]: refused('InvalidRequest'),
  [grpcStatus.permissionDenied]: refused('Unauthenticated'),
  [grpcStatus.unauthenticated]: refused('Unauthenticated'),
  [grpcStatus.resourceExhausted]: refused('Overloaded'),
  [grpcStatus.unimplemented]: unavailable('no', 'elsewhere'),
  [grpcStatus.dataLoss]: refused('StorageDamaged'),
};

/** Classifies the rejection of a call. Any other error is a bug and thrown again. */
export function judge(error: unknown): Verdict {
  if (error instanceof StoreError) return { ...refused(error.code), error };
  if (!(error instanceof GrpcError) && !hasCode(error, 'MalformedMessage')) throw error;
  const meaning = error instanceof GrpcError ? meaningOf(error) : unavailable('perhaps', 'elsewhere');
  return { ...meaning, error: new StoreError(meaning.code, `etcd: ${error.message}`, { cause: error }) };
}

/** Classifies the reason of a watch that etcd cancelled: a text, sometimes with the status in front. */
export function judgeReason(reason: string): Verdict {
  const text = /desc = (.*)$/s.exec(reason)?.[1] ?? reason;
  return judge(new GrpcError(grpcStatus.unknown, text || 'the watch was cancelled', { fate: 'answered' }));
}

function meaningOf(error: GrpcError): Meaning {
  if (error.fate === 'unsent') {
    return error.status === grpcStatus.unauthenticated ? refused('Unauthenticated') : unavailable('no', 'elsewhere');
  }
  if (error.fate === 'lost') {
    return unavailable('perhaps', error.status === grpcStatus.resourceExhausted ? 'less' : 'elsewhere');
  }
  // gRPC's own limit, checked before etcd sees the request.
  if (error.status === grpcStatus.resourceExhausted && error.message.includes('received message larger than max')) {
    return refused('ValueTooLarge');
  }
  return meanings[error.message] ?? meaningsByStatus[error.status] ?? unavailable('perhaps', 'elsewhere');
}

/** Reports whether the answer exceeded the message limit: request less. */
export function isAnswerTooLarge(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : undefined;
  return cause instanceof GrpcError && cause.fate === 'lost' && cause.status === grpcStatus.resourceExhausted;
}
