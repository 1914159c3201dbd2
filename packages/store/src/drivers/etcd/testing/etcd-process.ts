/**
 * Real etcd processes for tests and benchmarks: one member or a cluster, on loopback and free ports, with their data in a temporary folder.
 * They can be killed, restarted on the same ports and data, and paused.
 *
 * All processes are terminated by `stop()`, at the latest when this process exits, for any reason.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tool } from '../../../../../../tools/tool.ts';
import { enableAuth } from './auth-setup.ts';
import { TestAuthority } from './certificates.ts';
import type { Certificate } from './certificates.ts';
import { EtcdMember } from './etcd-member.ts';
import { freePorts } from '../../../../../../tools/free-ports.ts';
import { guard } from './guardian.ts';

export interface StartEtcdOptions {
  /** Default: 1. */
  members?: number;
  /** Clients must use TLS and show a certificate that `tls.authority` signed. */
  tls?: boolean;
  /** Authentication is on; the user `root` has this password. */
  rootPassword?: string;
  /** Not durable, much faster: for tests of semantics only. */
  unsafeNoFsync?: boolean;
  /** Members are made from this snapshot by etcdutl. */
  snapshot?: string;
  /** Path of the executable. Default: the newest version. */
  program?: string;
  /** More arguments for every member, e.g. `--max-request-bytes=4000000`. */
  args?: readonly string[];
}

export interface EtcdTls {
  readonly authority: TestAuthority;
  readonly ca: string;
  /** Signed by the authority, for the user `root`. */
  readonly client: Certificate;
}

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  /** Holds the data of all members, each in a folder with its name. */
  readonly folder: string;
  readonly members: readonly EtcdMember[];
  readonly tls: EtcdTls | undefined;
  /** Waits until the cluster has a leader, and returns it. */
  leader(): Promise<EtcdMember>;
  /** Stops every member and removes the data. Idempotent. */
  stop(): Promise<void>;
}

/** Resolves when the cluster serves requests. */
export async function startEtcd(options: StartEtcdOptions = {}): Promise<EtcdCluster> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(options);
    } catch (error) {
      // Another process took the port after we had chosen it.
      if (attempt === 3 || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function start(options: StartEtcdOptions): Promise<EtcdCluster> {
  const { members: count = 1 } = options;
  const program = options.program ?? (await tool('etcd'));
  const folder = await mkdtemp(join(tmpdir(), 'hangar-etcd-'));
  const guardian = guard(folder);
  const members: EtcdMember[] = [];
  const stop = async () => {
    await Promise.all(members.map((member) => member.kill()));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    guardian.dismiss();
  };
  try {
    const tls = options.tls ? makeTls() : undefined;
    const tlsArguments = tls ? await writeTls(folder, tls) : [];
    const ports = await freePorts(count * 3);
    const names = Array.from({ length: count }, (_, place) => `member-${place}`);
    const peers = names.map((name, place) => `${name}=http://127.0.0.1:${ports[count + place]}`).join(',');
    for (const [place, name] of names.entries()) {
      const args = [
        `--initial-cluster=${peers}`,
        '--initial-cluster-state=new',
        '--log-level=error',
        ...(options.unsafeNoFsync ? ['--unsafe-no-fsync'] : []),
        ...tlsArguments,
        ...(options.args ?? []),
      ];
      const [client, peer, metrics] = [ports[place]!, ports[count + place]!, ports[2 * count + place]!];
      members.push(new EtcdMember({ program, name, folder, args, secure: tls !== undefined, client, peer, metrics }));
    }
    if (options.snapshot !== undefined) {
      for (const member of members) await restore(member, { folder, peers, snapshot: options.snapshot });
    }
    await Promise.all(members.map((member) => member.start()));
    const endpoints = members.map((member) => member.endpoint);
    if (options.rootPassword !== undefined) await enableAuth(endpoints, tls, options.rootPassword);
    return { endpoints, folder, members, tls, leader: () => leaderOf(members), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function restore(
  { name, peerUrl }: EtcdMember,
  { folder, peers, snapshot }: { folder: string; peers: string; snapshot: string },
): Promise<void> {
  await promisify(execFile)(await tool('etcdutl'), [
    'snapshot',
    'restore',
    snapshot,
    `--name=${name}`,
    `--data-dir=${join(folder, name)}`,
    `--initial-cluster=${peers}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
  ]);
}

async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  for (const endMs = Date.now() + 30_000; Date.now() < endMs;) {
    for (const member of members) if (await member.isLeader()) return member;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the cluster has no leader');
}

function makeTls(): EtcdTls {
  const authority = new TestAuthority();
  return { authority, ca: authority.cert, client: authority.issue('root') };
}

async function writeTls(folder: string, tls: EtcdTls): Promise<string[]> {
  const server = tls.authority.issue('etcd');
  const files = { 'ca.pem': tls.ca, 'server.pem': server.cert, 'server-key.pem': server.key };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return [
    '--client-cert-auth',
    `--trusted-ca-file=${join(folder, 'ca.pem')}`,
    `--cert-file=${join(folder, 'server.pem')}`,
    `--key-file=${join(folder, 'server-key.pem')}`,
  ];
}
