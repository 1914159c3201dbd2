/** etcd's messages in an independent protobuf implementation, as a reference for ours. */

import protobuf from 'protobufjs';

const source = `
syntax = "proto3";
message Header { uint64 cluster_id = 1; uint64 member_id = 2; int64 revision = 3; uint64 raft_term = 4; }
message KeyValue {
  bytes key = 1; int64 create_revision = 2; int64 mod_revision = 3; int64 version = 4; bytes value = 5; int64 lease = 6;
}
message RangeRequest {
  bytes key = 1; bytes range_end = 2; int64 limit = 3; int64 revision = 4; int32 sort_order = 5; int32 sort_target = 6;
  bool serializable = 7; bool keys_only = 8; bool count_only = 9;
}
message RangeResponse { Header header = 1; repeated KeyValue kvs = 2; bool more = 3; int64 count = 4; }
message PutRequest { bytes key = 1; bytes value = 2; int64 lease = 3; bool prev_kv = 4; }
message PutResponse { Header header = 1; KeyValue prev_kv = 2; }
message DeleteRangeRequest { bytes key = 1; bytes range_end = 2; bool prev_kv = 3; }
message DeleteRangeResponse { Header header = 1; int64 deleted = 2; repeated KeyValue prev_kvs = 3; }
message RequestOp {
  oneof request { RangeRequest range = 1; PutRequest put = 2; DeleteRangeRequest delete_range = 3; TxnRequest txn = 4; }
}
message ResponseOp {
  oneof response { RangeResponse range = 1; PutResponse put = 2; DeleteRangeResponse delete_range = 3; TxnResponse txn = 4; }
}
message Compare { int32 result = 1; int32 target = 2; bytes key = 3; oneof union { int64 version = 4; int64 mod_revision = 6; } bytes range_end = 64; }
message TxnRequest { repeated Compare compare = 1; repeated RequestOp success = 2; repeated RequestOp failure = 3; }
message TxnResponse { Header header = 1; bool succeeded = 2; repeated ResponseOp responses = 3; }
message CompactionRequest { int64 revision = 1; bool physical = 2; }
message WatchRequest { oneof request { WatchCreateRequest create = 1; WatchCancelRequest cancel = 2; Progress progress = 3; } }
message Progress {}
message WatchCancelRequest { int64 watch_id = 1; }
message WatchCreateRequest {
  bytes key = 1; bytes range_end = 2; int64 start_revision = 3; bool progress_notify = 4; repeated int32 filters = 5;
  bool prev_kv = 6; int64 watch_id = 7; bool fragment = 8;
}
message Event { int32 type = 1; KeyValue kv = 2; KeyValue prev_kv = 3; }
message WatchResponse {
  Header header = 1; int64 watch_id = 2; bool created = 3; bool canceled = 4; int64 compact_revision = 5;
  string cancel_reason = 6; bool fragment = 7; repeated Event events = 11;
}
message LeaseGrantRequest { int64 TTL = 1; int64 ID = 2; }
message LeaseGrantResponse { Header header = 1; int64 ID = 2; int64 TTL = 3; string error = 4; }
message LeaseRequest { int64 ID = 1; }
message LeaseLeasesResponse { Header header = 1; repeated LeaseRequest leases = 2; }
message Empty {}
message StatusResponse {
  Header header = 1; string version = 2; int64 dbSize = 3; uint64 leader = 4; uint64 raftIndex = 5; uint64 raftTerm = 6;
  uint64 raftAppliedIndex = 7; repeated string errors = 8; int64 dbSizeInUse = 9; bool isLearner = 10; string storageVersion = 11;
  int64 dbSizeQuota = 12;
}
message AlarmRequest { int32 action = 1; uint64 memberID = 2; int32 alarm = 3; }
message AlarmMember { uint64 memberID = 1; int32 alarm = 2; }
message AlarmResponse { Header header = 1; repeated AlarmMember alarms = 2; }
message Member { uint64 ID = 1; string name = 2; repeated string peerURLs = 3; repeated string clientURLs = 4; bool isLearner = 5; }
message SnapshotResponse { Header header = 1; uint64 remaining_bytes = 2; bytes blob = 3; string version = 4; }
message MemberListResponse { Header header = 1; repeated Member members = 2; }
message MemberListRequest { bool linearizable = 1; }
message MemberAddRequest { repeated string peerURLs = 1; bool isLearner = 2; }
message MemberAddResponse { Header header = 1; Member member = 2; repeated Member members = 3; }
message MemberIdRequest { uint64 ID = 1; }
message AuthenticateRequest { string name = 1; string password = 2; }
message AuthenticateResponse { Header header = 1; string token = 2; }
message AuthStatusResponse { Header header = 1; bool enabled = 2; uint64 authRevision = 3; }
message UserAddOptions { bool no_password = 1; }
message AuthUserAddRequest { string name = 1; string password = 2; UserAddOptions options = 3; string hashedPassword = 4; }
message AuthUserRoleRequest { string user = 1; string role = 2; }
message AuthUserGetResponse { Header header = 1; repeated string roles = 2; }
message Permission { int32 permType = 1; bytes key = 2; bytes range_end = 3; }
message AuthNameRequest { string name = 1; }
message AuthRoleGetResponse { Header header = 1; repeated Permission perm = 2; }
message AuthRoleGrantPermissionRequest { string name = 1; Permission perm = 2; }
message AuthRoleRevokePermissionRequest { string role = 1; bytes key = 2; bytes range_end = 3; }
`;

const { root } = protobuf.parse(source, { keepCase: true });

/** A message without gRPC's prefix. */
export function encodeMessage(type: string, content: object): Buffer {
  return Buffer.from(root.lookupType(type).encode(content).finish());
}

/** 64-bit numbers and bytes are text. Absent fields are left out. */
export function decodeMessage(type: string, message: Uint8Array): Record<string, unknown> {
  const decoded = root.lookupType(type).toObject(root.lookupType(type).decode(message), { longs: String });
  return JSON.parse(JSON.stringify(decoded, asText)) as Record<string, unknown>;
}

export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export function unframed(frame: Buffer): Buffer {
  return frame.subarray(5);
}

function asText(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // JSON.stringify converts a Buffer to an object before it calls the replacer.
  const original = this[key];
  return original instanceof Uint8Array ? Buffer.from(original).toString() : value;
}
