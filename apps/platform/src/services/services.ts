/**
 * Runs services beside the API server, which never take it down: the operators of control planes and of backups, the essential controllers,
 * and `demo`.
 * With --services also aggregated API servers. With --projects also the operator of organizations and projects. With --hosted also the operator of hosted control planes and their node. Loaded while the store is opened: a bare server does not load
 * them.
 */

import { settledWithin, systemClock, systemRandom } from '@hangar/core';
import type { Failpoints, Logger } from '@hangar/core';
import type { Inside } from '../compose/inside.ts';
import type { BackupOptions } from '../options/backup.ts';
import { aggregatedService } from './aggregated/index.ts';
import type { AggregatedServiceName } from './aggregated/table.ts';
import { backupService } from './backup.ts';
import { controllersService } from './controllers.ts';
import { demoService } from './demo-service.ts';
import type * as Hosted from './hosted/index.ts';
import { mergedExposition } from './exposition.ts';
import { operatorService } from './operator.ts';
import { projectsService } from './projects.ts';
import { Supervisor } from './supervise.ts';
import type { SupervisedService } from './supervise.ts';

export interface ServicesOptions {
  readonly inside: Inside;
  readonly log: Logger;
  readonly electsLeader: boolean;
  /** File of the kubeconfig of `demo`. Absent: it is a control plane like any other. */
  readonly demoFile?: string | undefined;
  /** Absent: this server makes no backups. */
  readonly backup?: BackupOptions | undefined;
  /** True: this server serves organizations and projects. */
  readonly hasProjects?: boolean | undefined;
  /** Aggregated API servers to run. */
  readonly aggregated?: readonly AggregatedServiceName[] | undefined;
  /** Absent: this server runs no hosted control planes. */
  readonly hosted?: { readonly module: typeof Hosted; readonly settings: Hosted.HostedSettings } | undefined;
  /** Of tests: they reach the operator of control planes. */
  readonly failpoints?: Failpoints | undefined;
}

export interface Services {
  /** True: `demo` is ready. False: there is none, or it takes too long. Never rejects. */
  readonly hasDemo: Promise<boolean>;
  /** True: HostedControlPlanes are served. False: they are off, or it takes too long. Never rejects. */
  readonly hasHosted: Promise<boolean>;
  /** Stops the wait for `demo` first, then backups, then projects, then the operators and hosted control planes, then the controllers, which finish the work of the operator, then aggregated API servers. Never rejects. */
  stop(): Promise<void>;
}

/** Maximum time that `hangar up` waits for the kinds of hosted control planes. */
const hostedWaitMs = 30_000;

export function startServices(options: ServicesOptions): Services {
  const { inside, log, electsLeader, demoFile, backup, hasProjects, aggregated, hosted, failpoints } = options;
  const supervisor = new Supervisor({ clock: systemClock, random: systemRandom, log });
  const texts = new Map<string, () => string>();
  inside.addMetrics(() => mergedExposition([supervisor.text(), ...Array.from(texts.values(), (text) => text())]));
  const worldOf = (name: string) => ({
    inside,
    log,
    electsLeader,
    tellMetrics: (text: () => string) => void texts.set(name, text),
  });
  const installed = Promise.withResolvers<void>();
  const dedicated = hosted && hosted.module.dedicatedDefaults(hosted.settings);
  const hostedPart = hosted?.module.hostedServices(worldOf, {
    ...hosted.settings,
    hasBackups: backup !== undefined,
    failpoints,
  });
  const operator = operatorService({
    ...worldOf('operator'),
    onInstalled: installed.resolve,
    dedicated,
    replicas: hostedPart?.replicas,
    failpoints,
  });
  const controllers = controllersService(worldOf('controllers'));
  const demo =
    demoFile === undefined ? undefined : demoService({ inside, log, demoFile, installed: installed.promise });
  const hostedServices = hostedPart?.services ?? [];
  const targets = hostedPart?.backupTargets;
  const backups = backup ? [backupService({ ...worldOf('backup-operator'), options: backup, targets })] : [];
  const projects = hasProjects
    ? [projectsService({ ...worldOf('projects-operator'), installed: installed.promise })]
    : [];
  const apis = (aggregated ?? []).map((name) => aggregatedService(name, worldOf(name)));
  for (const { name } of [operator, ...apis, ...projects, ...backups, ...hostedServices, controllers]) {
    inside.addCheck({ name, isAdvisory: true, check: () => supervisor.problem(name) });
  }
  const begin = (service: SupervisedService) => {
    const stop = new AbortController();
    return { stop, ended: supervisor.run(service, stop.signal) };
  };
  const operators = [...backups, ...projects, operator, ...hostedServices, controllers];
  // Aggregated servers stop last: they store what the others do.
  const begun = [...(demo ? [demo] : []), ...operators, ...apis].map(begin);
  return {
    hasDemo: demo?.isUsable ?? Promise.resolve(false),
    hasHosted: hostedPart ? settledWithin(systemClock, hostedWaitMs, hostedPart.installed) : Promise.resolve(false),
    async stop() {
      for (const { stop, ended } of begun) {
        stop.abort(new Error('the server is shutting down'));
        await ended;
      }
    },
  };
}
