/**
 * The essential set of controllers. Each is one line here and one folder. Home controllers need the keys of the control plane, or are
 * disabled in a kube-controller-manager by default; the others can run anywhere.
 */

import type { ControllerWorld, FleetController, RemoteWorld } from './contract.ts';
import { GarbageCollector } from './garbage-collection/controller.ts';
import { NamespaceController } from './namespaces/controller.ts';
import { BootstrapSignerController } from './bootstrap-tokens/bootstrap-signer.ts';
import { TokenCleanerController } from './bootstrap-tokens/token-cleaner.ts';
import { ClusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.ts';
import { CsrApproverController } from './csr/approver.ts';
import { CsrCleanerController } from './csr/cleaner.ts';
import { KubeletServingApproverController } from './csr/kubelet-serving-approver.ts';
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
 * The controllers that can run outside of the server with a kubeconfig of the control plane. They do not know the base layer of its Hangar.
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
  new KubeletServingApproverController(),
];
