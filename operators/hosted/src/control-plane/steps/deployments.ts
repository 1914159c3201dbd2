/**
 * Phases InternalKubeconfig and APIServerDeployments. kube-controller-manager and kube-scheduler are never ahead of the API servers: their
 * Deployments change when the roll-out of kube-apiserver is complete. At the first start they follow the first API server.
 */

import { find } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Secret } from '@hangar/client/kinds/core-v1';
import { isFenced } from '../../api/index.ts';
import { isFault } from '../../fault.ts';
import type { Fault } from '../../fault.ts';
import { digestOf, textIn } from '../../pki/secrets.ts';
import { workloadName } from '../../render/index.ts';
import { replicating } from '../../replica/hold.ts';
import type { Component, Rendered } from '../../render/index.ts';
import { applyAll, applyObject } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';
import { deploymentReport } from '../rollout.ts';
import type { DeploymentReport } from '../rollout.ts';
import { troubleOf } from './pods.ts';

export const internalKubeconfig = (pass: Pass): Promise<Verdict | undefined> =>
  applyAll(pass, pass.rendering.componentKubeconfigs(pass.plane));

export async function apiServerDeployments(pass: Pass): Promise<Verdict | undefined> {
  const { plane, rendering, authorities } = pass;
  const { ca, etcd, proxy, sa } = authorities!;
  const fault = (await auditFiles(pass)) ?? (await applyAll(pass, rendering.authentication(plane)));
  if (fault) return fault;
  // Authorities of clients are read again while the program runs. They are here because step 1 and 2 of a rotation must be complete.
  const clients = [ca, proxy].map(({ certificate, next }) => [certificate, next]);
  // A survivor can have older revisions than those that API servers have cached.
  const recoveries = pass.etcdRecoveries ? [pass.etcdRecoveries] : [];
  const files = digestOf([sa.trusted, etcd.trusted, clients, pass.auditDigest, ...recoveries]);
  const apiServer = await component(pass, 'kube-apiserver', rendering.apiServer(plane, files));
  if (isFault(apiServer)) return apiServer;
  pass.apiServer = apiServer;
  // At the first start, all components have the same version: the controllers can follow the first API server.
  const isFirstStart = pass.hostedControlPlane.status?.version === undefined;
  if (!apiServer.isComplete && !(isFirstStart && apiServer.available > 0)) {
    return incomplete(pass, 'kube-apiserver', apiServer);
  }
  const controllerFiles = digestOf([sa.certificate, ca.trusted]);
  const isReplica = isFenced(pass.hostedControlPlane);
  const started = (all: readonly Rendered[]) => (isReplica ? withoutPods(all) : all);
  const [manager, scheduler] = [
    await component(pass, 'kube-controller-manager', started(rendering.controllerManager(plane, controllerFiles))),
    await component(pass, 'kube-scheduler', started(rendering.scheduler(plane, digestOf(ca.trusted)))),
  ];
  if (isFault(manager)) return manager;
  if (isFault(scheduler)) return scheduler;
  if (!apiServer.isComplete) return incomplete(pass, 'kube-apiserver', apiServer);
  if (!manager.isComplete) return incomplete(pass, 'kube-controller-manager', manager);
  if (!scheduler.isComplete) return incomplete(pass, 'kube-scheduler', scheduler);
  if (isReplica) return { ...replicating(pass), isPartial: true };
  pass.isVersionComplete = !pass.isEtcdBusy;
  return undefined;
}

/** Controllers of a replica cannot write: its Deployments have no pods. */
const withoutPods = ([deployment, ...others]: readonly Rendered[]): readonly Rendered[] => {
  const object = deployment!.object as Deployment;
  return [{ ...deployment!, object: { ...object, spec: { ...object.spec!, replicas: 0 } } as Deployment }, ...others];
};

/** Applies a component. While etcd is busy, an existing Deployment does not change. */
async function component(pass: Pass, name: Component, all: readonly Rendered[]): Promise<DeploymentReport | Fault> {
  const { plane, client, signal } = pass;
  if (pass.isEtcdBusy) {
    const key = { namespace: plane.namespace, name: workloadName(plane, name) };
    const existing = await find(client, Deployment, key, { signal });
    if (existing) return deploymentReport(existing);
  }
  const [deployment, ...others] = all;
  const fault = await applyAll(pass, others);
  if (fault) return fault;
  const applied = await applyObject<Deployment>(pass, deployment!);
  return isFault(applied) ? applied : deploymentReport(applied);
}

async function incomplete(pass: Pass, name: Component, report: DeploymentReport): Promise<Verdict> {
  const { available, updated, desired } = report;
  const { namespace = '', name: hosted = '' } = pass.hostedControlPlane.metadata;
  pass.world.etcdCare.hint({ namespace, name: hosted });
  const trouble = await troubleOf(pass, name);
  const counts = `${name}: ${updated} of ${desired} pods are up to date, ${available} are available`;
  return {
    reason: trouble?.reason ?? 'DeploymentRollingOut',
    message: trouble ? `${counts}: ${trouble.message}` : counts,
    // The kubeconfig of the administrator is useful as soon as one API server responds.
    isPartial: (pass.apiServer?.available ?? 0) > 0,
    requeueAfterMs: 10_000,
  };
}

/** The Secret with the audit policy, and the tokens of the targets in it. */
async function auditFiles(pass: Pass): Promise<Fault | undefined> {
  const { plane, rendering } = pass;
  const { targets = [] } = plane.spec.deployment?.apiServer?.audit?.webhook ?? {};
  const tokens: (string | undefined)[] = [];
  for (const { authentication } of targets) {
    const token = authentication && (await tokenOf(pass, authentication));
    if (typeof token === 'object') return token;
    tokens.push(token);
  }
  const all = rendering.audit(plane, tokens);
  pass.auditDigest = digestOf(all.map(({ object }) => (object as Secret).data));
  return applyAll(pass, all);
}

async function tokenOf(
  { plane, apiReader, signal }: Pass,
  {
    secretName: name,
    secretNamespace: namespace = plane.namespace,
    tokenKey = 'token',
  }: { secretName: string; secretNamespace?: string; tokenKey?: string },
): Promise<string | Fault> {
  const quoted = `Secret ${JSON.stringify(`${namespace}/${name}`)}`;
  if (namespace !== plane.namespace) {
    const message = `${quoted} of the audit webhook is not in the namespace of the control plane`;
    return { reason: 'AuditTokenForbidden', message };
  }
  const secret = await find(apiReader, Secret, { namespace, name }, { signal });
  if (!secret) return { reason: 'AuditTokenMissing', message: `${quoted} of the audit webhook does not exist` };
  const token = textIn(secret, tokenKey).trim();
  return token || { reason: 'AuditTokenMissing', message: `${quoted} of the audit webhook has no key ${tokenKey}` };
}
