/** Prepares the start of a container: image, environment, mounts and command line. */

import { createServer } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { enclosed } from '../enclosure/enclosure.ts';
import { ProcessRuntimeError } from '../errors.ts';
import type { Image } from '../images/resolver.ts';
import type { ProcessSpec } from '../processes/contract.ts';
import { commandLine } from '../spec/command.ts';
import type { CommandLine } from '../spec/command.ts';
import type { PodPlace } from '../spec/downward.ts';
import { environmentOf } from '../spec/environment.ts';
import { rewriteAddresses, rewriteNames, rewritePaths } from '../spec/rewrite.ts';
import { mountsOf } from '../volumes/volumes.ts';
import type { Mount, VolumePaths } from '../volumes/volumes.ts';
import type { PodWorld } from './world.ts';

export interface ContainerSetting {
  readonly world: PodWorld;
  readonly pod: Pod;
  readonly container: Container;
  readonly place: PodPlace;
  readonly volumes: VolumePaths;
  /** Folder with the file `hosts` of the pod. */
  readonly podFiles: string;
}

export interface PreparedContainer {
  readonly image: Image;
  readonly spec: Omit<ProcessSpec, 'log'>;
  /** Keys of `envFrom` that cannot be variables. */
  readonly warnings: readonly string[];
}

/** Annotation of a pod. `exact`: addresses and names in arguments and variables are not replaced. */
export const addressesAnnotation = 'hangar.dev/process-addresses';

/** Path of the file for the termination message in the folder of a run. */
export const terminationFile = 'termination-log';

/** Rejects with the code that becomes the waiting reason of the container. */
export async function prepareContainer(setting: ContainerSetting, folder: string): Promise<PreparedContainer> {
  const { world, pod, container, place } = setting;
  const image = await world.images.resolve(container.image ?? '');
  const environment = await environmentOf({
    pod,
    container,
    place,
    config: world.config,
    services: world.network.variablesFor(pod.metadata.namespace!, pod.spec?.enableServiceLinks ?? true),
    image: image.env,
  });
  await checkPorts(setting);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, terminationFile), '', { mode: 0o666 });
  const written = await mountsOf(container, setting.volumes, environment.expandable);
  const mounts = [...written, ...terminationMounts(setting, folder)];
  const rewrite = rewriterFor(setting, mounts);
  const line = commandLine(container, image, environment.expandable);
  const command: CommandLine = { ...line, arguments: line.arguments.map(rewrite) };
  const env = Object.fromEntries(Object.entries(environment.all).map(([name, value]) => [name, rewrite(value)]));
  env['PATH'] ??= process.env['PATH'] ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  env['HOSTNAME'] ??= hostnameOf(pod);
  env['HOME'] ??= '/';
  const cwd = container.workingDir || image.workingDir || '/';
  if (world.enclosure) {
    const options = { tools: world.enclosure, folder, imageRoot: image.root, podFiles: setting.podFiles };
    const outer = await enclosed({ ...options, mounts, cwd, command });
    return {
      image,
      spec: { folder, ...outer, env, cwd: '/', root: join(folder, 'root') },
      warnings: environment.warnings,
    };
  }
  return { image, spec: { folder, ...command, env, cwd: rewrite(cwd) }, warnings: environment.warnings };
}

/** Returns the function that adapts an argument to this machine. */
export function rewriterFor(
  { world, pod, place }: ContainerSetting,
  mounts: readonly Mount[],
): (text: string) => string {
  const isExact = pod.metadata.annotations?.[addressesAnnotation] === 'exact' || pod.spec?.hostNetwork === true;
  const addresses = isExact ? (text: string) => text : rewriteAddresses(place.podIP);
  if (world.enclosure) return addresses;
  const paths = rewritePaths(mounts.map(({ source, target }) => ({ from: target, to: source })));
  const names = isExact ? (text: string) => text : rewriteNames((name) => world.network.addressOfName(name));
  return (text) => names(addresses(paths(text)));
}

function terminationMounts({ world, container }: ContainerSetting, folder: string): Mount[] {
  const target = container.terminationMessagePath ?? '/dev/termination-log';
  // /dev is mounted from the machine as a whole.
  if (world.enclosure && /^\/(?:dev|proc|sys)\//.test(target)) return [];
  return [{ source: join(folder, terminationFile), target, readOnly: false }];
}

export const hostnameOf = ({ metadata, spec }: Pod): string => spec?.hostname || (metadata.name ?? '').slice(0, 63);

/** Reports a port in use before the program fails with a message in its log only. */
async function checkPorts({ container, place }: ContainerSetting): Promise<void> {
  for (const { containerPort, protocol = 'TCP' } of container.ports ?? []) {
    if (protocol !== 'TCP') continue;
    if (await isInUse(place.podIP, containerPort)) {
      throw new ProcessRuntimeError(
        'CreateContainerError',
        `port ${containerPort} of container ${JSON.stringify(container.name)} is in use on ${place.podIP}: another process of this machine listens on it or on all addresses`,
      );
    }
  }
}

function isInUse(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(hasCode(error, 'EADDRINUSE')));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
