/** Which controllers make up the essential set. Each is one line here and one folder beside. */

import type { ControllerWorld, FleetController } from './contract.ts';
import { GarbageCollector } from './garbage-collection/controller.ts';
import { NamespaceController } from './namespaces/controller.ts';
import { BootstrapSignerController } from './bootstrap-tokens/bootstrap-signer.ts';
import { TokenCleanerController } from './bootstrap-tokens/token-cleaner.ts';
import { ClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.ts';
import { CsrApproverController } from './csr/approver.ts';
import { CsrCleanerController } from './csr/cleaner.ts';
import { CsrSignerController } from './csr/signer.ts';
import { RootCaController } from './root-ca/root-ca.ts';
import { ServiceAccountsController } from './service-accounts/service-accounts.ts';
import { TokenSecretsController } from './token-secrets/token-secrets.ts';
import { TtlAfterFinishedController } from './ttl-after-finished/ttl-after-finished.ts';
import { ResourceQuotaController } from './resource-quota/controller.ts';
import { StorageProtectionController } from './storage-protection/controller.ts';

export function essentialControllers(world: ControllerWorld): FleetController[] {
  return [
    new NamespaceController(world),
    new GarbageCollector(world),
    new ResourceQuotaController(world),
    new StorageProtectionController(),
    new ServiceAccountsController(),
    new TokenSecretsController(world),
    new RootCaController(world),
    new ClusterRoleAggregationController(),
    new TtlAfterFinishedController(world),
    new BootstrapSignerController(world),
    new TokenCleanerController(world),
    new CsrApproverController(),
    new CsrSignerController(world),
    new CsrCleanerController(world),
  ];
}
