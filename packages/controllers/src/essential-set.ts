/**
 * Which controllers make up the essential set. Each is one line here and one folder beside. Those that stay at home need the control
 * plane's keys, or are off in a kube-controller-manager unless it is told otherwise; the others work from anywhere.
 */

import type { ControllerWorld, FleetController, RemoteWorld } from './contract.ts';
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
import type { EachNamespaceOptions } from './shared/each-namespace.ts';
import { StorageProtectionController } from './storage-protection/controller.ts';

export const essentialControllers = (world: ControllerWorld): FleetController[] => [
  ...mobileControllers(world, {}),
  ...homeControllers(world),
];

/**
 * What whoever runs the controllers of a control plane runs: with a kubeconfig of it, from wherever they are. What its Hangar lets it be
 * born with they cannot know.
 */
export const remoteControllers = (world: RemoteWorld): FleetController[] =>
  mobileControllers(world, { looksAtBase: true });

const mobileControllers = (world: RemoteWorld, born: EachNamespaceOptions): FleetController[] => [
  new NamespaceController(world),
  new GarbageCollector(world),
  new ResourceQuotaController(world),
  new StorageProtectionController(),
  new ServiceAccountsController(born),
  new RootCaController(world, born),
  new ClusterRoleAggregationController(world.clock),
  new TtlAfterFinishedController(world),
  new CsrApproverController(),
  new CsrCleanerController(world),
];

const homeControllers = (world: ControllerWorld): FleetController[] => [
  new TokenSecretsController(world),
  new BootstrapSignerController(world),
  new TokenCleanerController(world),
  new CsrSignerController(world),
];
