/** Maintains the ServiceAccount `default` in every active namespace: recreated when it is deleted. */

import { ServiceAccount } from '@hangar/client/kinds/core-v1';
import { EachNamespace } from '../shared/each-namespace.ts';
import type { EachNamespaceOptions } from '../shared/each-namespace.ts';

const name = 'default';

export class ServiceAccountsController extends EachNamespace<ServiceAccount> {
  readonly name = 'service-accounts';

  constructor(options?: EachNamespaceOptions) {
    super({ kind: ServiceAccount, name }, options);
  }

  protected wanted(namespace: string): ServiceAccount {
    return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
  }
}
