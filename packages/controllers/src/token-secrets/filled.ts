/** Fills the missing fields of a token secret. */

import type { Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { ClusterKeys } from '../contract.ts';
import { legacyToken } from './legacy-token.ts';
import { accountNameAnnotation, accountUidAnnotation } from './token-secret.ts';

/** Returns undefined if nothing is missing. Without a serving CA, none is written. */
export function filled(secret: Secret, account: ServiceAccount, keys: ClusterKeys): Secret | undefined {
  const { metadata, data = {} } = secret;
  const missing: Record<string, string> = {};
  const authority = base64(keys.servingCa);
  if (authority !== '' && data['ca.crt'] !== authority) missing['ca.crt'] = authority;
  if (!data['namespace']) missing['namespace'] = base64(metadata.namespace!);
  if (!data['token']) missing['token'] = base64(tokenFor(secret, account, keys.serviceAccountKey));
  if (Object.keys(missing).length === 0) return undefined;
  const annotations = {
    ...metadata.annotations,
    [accountNameAnnotation]: account.metadata.name!,
    [accountUidAnnotation]: account.metadata.uid!,
  };
  return { ...secret, metadata: { ...metadata, annotations }, data: { ...data, ...missing } };
}

const tokenFor = ({ metadata }: Secret, account: ServiceAccount, key: string): string =>
  legacyToken({
    namespace: metadata.namespace!,
    secret: metadata.name!,
    account: { name: account.metadata.name!, uid: account.metadata.uid! },
    key,
  });

const base64 = (text: string): string => Buffer.from(text).toString('base64');
