/** Switches authentication on, through etcd's own API. */

import { MessageWriter } from '@hangar/http2/grpc';
import { decodeHeader } from '../messages/header.ts';
import { openClient } from '../open-client.ts';
import type { EtcdTls } from './etcd-process.ts';

/** Creates only the user `root`, with this password. */
export async function enableAuth(
  endpoints: readonly string[],
  tls: EtcdTls | undefined,
  rootPassword: string,
): Promise<void> {
  const client = openClient({
    endpoints,
    requestTimeoutMs: 10_000,
    ...(tls && { tls: { ca: tls.ca, ...tls.client } }),
  });
  const call = (method: string, message: MessageWriter) =>
    client.call({
      method: `/etcdserverpb.Auth/${method}`,
      frame: message.finishFrame(),
      decode: decodeHeader,
      repeatable: false,
    });
  try {
    await call('UserAdd', new MessageWriter().string(2, rootPassword).string(1, 'root'));
    await call('RoleAdd', new MessageWriter().string(1, 'root'));
    await call('UserGrantRole', new MessageWriter().string(2, 'root').string(1, 'root'));
    await call('AuthEnable', new MessageWriter());
  } finally {
    client.close();
  }
}
