/** Parses the command line of `hangar controller-manager`. Nothing starts before all of it is valid. */

import { join, resolve } from 'node:path';
import { layered, loggingOf, loggingOptions, UsageError } from '@hangar/core/command-line';
import type { Environment, FlagValues, LoggingOptions } from '@hangar/core/command-line';
import type { PortRange } from '../child/ports.ts';
import { chooseEngine } from './engine-choice.ts';
import type { EngineChoice } from './engine-choice.ts';
import { clusterOptions } from './clusters.ts';
import type { ClusterOptions } from './clusters.ts';
import { flags } from './flags.ts';
import type { KubeFlags } from './kube-help.ts';
import type { KubePrograms } from './kube-programs.ts';
import { sharingOptions } from './sharing.ts';
import type { SharingOptions } from './sharing.ts';
import { ownFlagsIn, passedFlag, sortFlags, unknownFlag } from './sorting.ts';
import type { SortedFlags } from './sorting.ts';
import { addressOf, bytesOf, durationMs, integerOf, portRangeOf } from './values.ts';

export interface ServingOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Both or none. */
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Folder of the generated certificate. */
  readonly certificateDirectory: string;
  readonly tokenFile: string | undefined;
}

export interface ChildOptions {
  readonly workDirectory: string;
  /** Undefined: no limit. */
  readonly memoryLimitBytes: number | undefined;
  readonly ports: PortRange;
  readonly startConcurrency: number;
  readonly stopGraceMs: number;
  readonly debounceMs: number;
}

export interface ControllerManagerOptions {
  /** Absolute; undefined: the default of kubectl and pods. */
  readonly kubeconfig: string | undefined;
  /** The same for the essential engine's feed; undefined: that of the management plane. */
  readonly feedKubeconfig: string | undefined;
  readonly clusters: ClusterOptions;
  readonly sharing: SharingOptions;
  readonly engine: EngineChoice;
  /** Passed to every program of that kind. */
  readonly managerFlags: readonly string[];
  readonly schedulerFlags: readonly string[];
  readonly children: ChildOptions;
  readonly serving: ServingOptions;
  readonly logging: LoggingOptions;
  /** Names of flags that were accepted and have no effect. */
  readonly unusedFlags: readonly string[];
}

/** Environment of a command line. */
export interface OptionsWorld {
  readonly environment: Environment;
  /** Base of relative paths. */
  readonly folder: string;
  readonly temporaryFolder: string;
  readonly hostName: string;
  readonly cores: number;
  readonly programs: KubePrograms;
}

type Values = FlagValues<typeof flags>;

/** kube-controller-manager does not start with less. */
const memoryLeast = 64 * 1024 ** 2;

/** Throws a UsageError, which names what is wrong. */
export async function readOptions(
  args: readonly string[],
  world: OptionsWorld,
): Promise<ControllerManagerOptions | 'help' | 'version'> {
  const { environment, folder, programs } = world;
  // First, because the other flags may be invalid when help is requested.
  if (args.some((word) => word === '--help' || word === '-h')) return 'help';
  const own = ownFlagsIn(args);
  if (own['help']) return 'help';
  if (own['version']) return 'version';
  const engine = chooseEngine(layered(flags, own), { programs, folder });
  const { controllerManager: manager } = engine;
  const kube = manager === undefined ? undefined : await programs.flagsOf(manager);
  const sorted = sortFlags(args, { kube, folder });
  const options = optionsOf(layered(flags, loggingOf(environment), sorted.ours), { sorted, engine, world });
  if (manager !== undefined) await checkPassedOn(manager, { sorted, kube, programs });
  await checkSchedulerFlags(options, programs);
  return options;
}

interface Understood {
  readonly sorted: SortedFlags;
  readonly engine: EngineChoice;
  readonly world: OptionsWorld;
}

function optionsOf(values: Values, { sorted, engine, world }: Understood): ControllerManagerOptions {
  const { folder, hostName } = world;
  const absolute = (path: string | undefined): string | undefined => (path ? resolve(folder, path) : undefined);
  const stopGraceMs = durationMs('cluster-stop-grace', values['cluster-stop-grace'], { leastMs: 0, mostMs: 60_000 });
  const clusters = clusterOptions(values);
  const sharing = sharingOptions(values, { hostName, stopGraceMs, clusters });
  const workDirectory =
    absolute(values['work-dir']) ?? join(world.temporaryFolder, `hangar-controller-manager-${sharing.peer}`);
  return {
    kubeconfig: absolute(values.kubeconfig),
    feedKubeconfig: absolute(values['feed-kubeconfig']),
    clusters,
    sharing,
    engine,
    managerFlags: sorted.passedOn,
    schedulerFlags: (values['kube-scheduler-flag'] ?? []).map((flag) => passedFlag(flag, folder)),
    children: { workDirectory, stopGraceMs, ...childOptions(values, world) },
    serving: servingOptions(values, { absolute, workDirectory }),
    logging: loggingOptions(values),
    unusedFlags: sorted.unused,
  };
}

function childOptions(values: Values, { cores }: OptionsWorld): Omit<ChildOptions, 'workDirectory' | 'stopGraceMs'> {
  const concurrency = values['cluster-start-concurrency'];
  return {
    memoryLimitBytes: bytesOf('cluster-memory-limit', values['cluster-memory-limit'], memoryLeast),
    ports: portRangeOf('cluster-port-range', values['cluster-port-range']),
    startConcurrency:
      concurrency === undefined
        ? Math.max(4, 2 * cores)
        : integerOf('cluster-start-concurrency', concurrency, [1, 10_000]),
    debounceMs: durationMs('cluster-debounce', values['cluster-debounce'], { leastMs: 0, mostMs: 600_000 }),
  };
}

interface ServingWorld {
  readonly absolute: (path: string | undefined) => string | undefined;
  readonly workDirectory: string;
}

function servingOptions(values: Values, { absolute, workDirectory }: ServingWorld): ServingOptions {
  const certificateFile = absolute(values['tls-cert-file']);
  const keyFile = absolute(values['tls-private-key-file']);
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file must be set together');
  }
  return {
    host: addressOf('bind-address', values['bind-address']),
    port: integerOf('secure-port', values['secure-port'], [0, 65_535]),
    certificateFile,
    keyFile,
    certificateDirectory: absolute(values['cert-dir']) ?? join(workDirectory, 'certs'),
    tokenFile: absolute(values['metrics-token-file']),
  };
}

interface PassedOn {
  readonly sorted: SortedFlags;
  readonly kube: KubeFlags | undefined;
  readonly programs: KubePrograms;
}

/** Validated by the program itself: it checks the values, and accepts flags that it does not list. */
async function checkPassedOn(manager: string, { sorted, kube, programs }: PassedOn): Promise<void> {
  if (sorted.passedOn.length === 0) return;
  const complaint = await programs.complaint(manager, sorted.passedOn);
  if (complaint === undefined) return;
  const [, unknown] = /^unknown (?:shorthand )?flag: --([-.\w]+)/.exec(complaint) ?? [];
  if (unknown !== undefined && sorted.unlisted.includes(unknown)) throw unknownFlag(unknown, kube);
  throw new UsageError(`kube-controller-manager rejects a flag: ${complaint}`);
}

async function checkSchedulerFlags(options: ControllerManagerOptions, programs: KubePrograms): Promise<void> {
  const { schedulerFlags: flags, engine } = options;
  if (flags.length === 0) return;
  const taken = flags.find((flag) => !/^--[a-z]/.test(flag) || ownedByUs.test(flag));
  if (taken !== undefined) {
    const why = ownedByUs.test(taken) ? 'is set by Hangar for each cluster' : 'is not a flag such as --v=2';
    throw new UsageError(`--kube-scheduler-flag: ${JSON.stringify(taken)} ${why}`);
  }
  if (engine.scheduler === undefined) {
    throw new UsageError('--kube-scheduler-flag: kube-scheduler was not found in PATH; set --kube-scheduler=FILE');
  }
  const complaint = await programs.complaint(engine.scheduler, flags);
  if (complaint !== undefined) throw new UsageError(`--kube-scheduler-flag: kube-scheduler rejects it: ${complaint}`);
}

/** Flags that set the folder and the cluster of a program. */
const ownedByUs =
  /^--(config|kubeconfig|master|leader-elect|secure-port|bind-address|cert-dir|authorization-always-allow-paths)(=|$)/;
