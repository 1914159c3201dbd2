/** What a person can already use, lowest layer first. A part is listed when its issue is done, not before. */

export interface Part {
  readonly name: string;
  readonly what: string;
}

export const parts: readonly Part[] = [
  { name: 'core', what: 'the injected world: clock, random, disk, transport, failpoints, bounded queues' },
  { name: 'store', what: 'a durable MVCC store with etcd semantics: drivers memory, embedded (SQLite) and etcd' },
  { name: 'cel', what: 'the Common Expression Language with Kubernetes libraries, costs and limits' },
  { name: 'api', what: 'the built-in kinds of Kubernetes 1.36, and codecs for JSON, YAML and protobuf' },
];
