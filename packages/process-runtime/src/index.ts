/**
 * @hangar/process-runtime is a Node that runs its pods as supervised local processes, for control planes without a kubelet.
 *
 *     const runtime = await startProcessRuntime({
 *       client, log, nodeName: 'local', folder: '/var/lib/hangar/node',
 *       images: [programsIn(['/opt/tools']), programsInPath],
 *     });
 *     …
 *     await runtime.close({ pods: 'stop' });
 *
 * The folders:
 *
 *   node/        the Node object, its Lease and its status
 *   pods/        one worker per pod: containers, restarts, status, journal
 *   processes/   the program of a container under its keeper, adopted after a restart
 *   spec/        environment, command line, downward API, replacement of paths and addresses
 *   volumes/     volumes as folders; files are replaced atomically
 *   storage/     claims of the StorageClass `hangar-process`
 *   enclosure/   mount namespaces, in which volumes are at the paths of the container
 *   network/     addresses of 127.0.0.0/8, names, forwarded Services
 *   images/      from an image to a program
 *   kubelet/     the kubelet API: logs, exec, attach, port-forward, metrics
 *   probes/ logs/ config/
 */

export { startProcessRuntime } from './runtime.ts';
export type { CloseOptions, ProcessRuntime } from './runtime.ts';
export type { KubeletOptions } from './kubelet/options.ts';
export type { ProcessRuntimeOptions } from './options.ts';
export { imagesIn } from './images/layout.ts';
export type { ImagesInOptions } from './images/layout.ts';
export { imagesFromRegistries } from './images/registry.ts';
export type { RegistryCredentials, RegistryOptions } from './images/registry.ts';
export { programsByName, programsIn, programsInPath } from './images/resolver.ts';
export type { Image, ImageSource } from './images/resolver.ts';
export { parseImage } from './images/reference.ts';
export type { ImageReference } from './images/reference.ts';
export { ProcessRuntimeError } from './errors.ts';
export type { ProcessRuntimeErrorCode } from './errors.ts';
export { runtimeLabel, runtimeValue } from './node/node.ts';
export { provisioner, storageClassName } from './storage/claims.ts';
export type { ClaimBinding } from './storage/claims.ts';
export { addressesAnnotation } from './pods/prepared-container.ts';
export { processRuntimeRules } from './rbac.ts';
export type { RuntimeMetrics } from './metrics.ts';
export type { ContainerProcess, ContainerProcesses, ProcessEnd, ProcessSpec } from './processes/contract.ts';
