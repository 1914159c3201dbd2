/** Aggregated API servers behind this one, and the credential that it shows them. */

import type { Logger } from '@hangar/core';
import { Aggregator, AuthenticationPublisher } from '@hangar/server';
import type { ControlPlane } from '@hangar/server';
import { frontProxyName } from './credentials.ts';
import type { Credentials } from './credentials.ts';

export interface Aggregation {
  readonly aggregator: Aggregator;
  start(): Promise<unknown>;
  close(): void;
}

export function aggregationOf(plane: ControlPlane, credentials: () => Credentials, log: Logger): Aggregation {
  const onError = (error: Error): void => log.error('failed to reconcile an aggregated API', { error });
  const { authority, frontProxyAuthority } = credentials();
  const aggregator = new Aggregator({ plane, clientCertificate: () => credentials().frontProxy, onError });
  const published = {
    clientCa: authority.certificate,
    frontProxyCa: frontProxyAuthority.certificate,
    allowedNames: [frontProxyName],
  };
  const publisher = new AuthenticationPublisher(plane, () => published, onError);
  return {
    aggregator,
    start: () => Promise.all([publisher.start(), aggregator.start()]),
    close() {
      publisher.close();
      aggregator.close();
    },
  };
}
