/** Runs the real etcd and kube-apiserver for comparisons: loopback only, in a separate folder. */

import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A user that the server authenticates by a token. */
export interface RealUser {
  readonly token: string;
  readonly user: string;
  readonly groups: readonly string[];
}

export interface EtcdPlace {
  readonly folder: string;
  readonly clientPort: number;
  readonly peerPort: number;
}

export const etcdUrl = ({ clientPort }: Pick<EtcdPlace, 'clientPort'>): string => `http://127.0.0.1:${clientPort}`;

export const etcdArguments = (place: EtcdPlace): string[] => [
  `--data-dir=${place.folder}/etcd`,
  `--listen-client-urls=${etcdUrl(place)}`,
  `--advertise-client-urls=${etcdUrl(place)}`,
  `--listen-peer-urls=http://127.0.0.1:${place.peerPort}`,
];

/** For tests, which need no durability. */
export const careless = '--unsafe-no-fsync';

export interface KubernetesPlace {
  /** Contains the files of `writeCredentials`. */
  readonly folder: string;
  readonly etcdUrl: string;
  readonly port: number;
}

/** `more` sets the authorization, and other flags. */
export const kubernetesArguments = (place: KubernetesPlace, more: readonly string[]): string[] => [
  `--etcd-servers=${place.etcdUrl}`,
  '--bind-address=127.0.0.1',
  `--secure-port=${place.port}`,
  `--cert-dir=${place.folder}/certificates`,
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${place.folder}/sa.pub`,
  `--service-account-signing-key-file=${place.folder}/sa.key`,
  `--token-auth-file=${place.folder}/tokens.csv`,
  ...more,
];

/** Writes the keys for tokens of service accounts, and the tokens of users. */
export async function writeCredentials(folder: string, users: readonly RealUser[]): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(join(folder, 'tokens.csv'), users.map(tokenLine).join(''));
}

const tokenLine = ({ token, user, groups }: RealUser): string =>
  `${token},${user},${user}${groups.length > 0 ? `,"${groups.join(',')}"` : ''}\n`;
