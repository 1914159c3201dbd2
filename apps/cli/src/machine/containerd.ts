/** containerd of a node: its configuration, its start and the import of images. */

import { delimiter, dirname, join } from 'node:path';
import { writeFiles } from './files.ts';
import type { Files } from './files.ts';
import type { Namespaces } from './namespaces.ts';
import { NodeProgram } from './program.ts';
import type { NodePrograms } from './programs.ts';
import { until } from './until.ts';

export const socket = '/run/containerd/containerd.sock';

export const pluginNames = ['cni-bridge', 'cni-host-local', 'cni-loopback', 'cni-portmap'] as const;

export interface ImageArchive {
  /** Of an OCI archive. */
  readonly path: string;
  /** Name of the image in it: the archive is not imported if containerd has this image. */
  readonly name?: string;
}

export interface ContainerdSettings {
  /** For the content of images, containers and the configuration. */
  readonly folder: string;
  readonly podNetwork: string;
  /** Image of the sandbox containers of pods. Absent: the default of containerd. */
  readonly pauseImage?: string | undefined;
}

export interface ContainerdOptions extends ContainerdSettings {
  readonly programs: NodePrograms;
  readonly logFile: string;
  readonly images: readonly ImageArchive[];
  /** Additional variables, for example HTTPS_PROXY for pulls. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Resolves when containerd serves requests and has all images. */
export async function startContainerd(namespaces: Namespaces, options: ContainerdOptions): Promise<NodeProgram> {
  const { programs, logFile, folder } = options;
  const pluginFolders = await Promise.all(pluginNames.map(async (name) => dirname(await programs.path(name))));
  await writeFiles(containerdFiles(options, { runc: await programs.path('runc'), pluginFolders }));
  const helpers = await Promise.all((['containerd-shim-runc-v2', 'nft'] as const).map((name) => programs.path(name)));
  const program = await NodeProgram.start(namespaces, {
    path: await programs.path('containerd'),
    args: [`--config=${configurationPath(folder)}`],
    env: { ...options.env, PATH: [...helpers.map(dirname), process.env['PATH']].join(delimiter) },
    logFile,
  });
  const ctr = await programs.path('ctr');
  const call = (...args: string[]): Promise<string> =>
    namespaces.run(ctr, `--address=${socket}`, '--namespace=k8s.io', ...args);
  await until('containerd serves requests', { program }, async () => {
    await call('version');
    return true;
  });
  await importImages(call, options.images);
  return program;
}

async function importImages(
  call: (...args: string[]) => Promise<string>,
  images: readonly ImageArchive[],
): Promise<void> {
  const present = new Set((await call('images', 'list', '--quiet')).split('\n'));
  for (const { name, path } of images) {
    // A node that was stopped and started again has them.
    if (name === undefined || !present.has(name)) await call('images', 'import', '--local', path);
  }
}

const configurationPath = (folder: string): string => join(folder, 'config.toml');
const networksFolder = (folder: string): string => join(folder, 'networks');

export interface ContainerdPrograms {
  readonly runc: string;
  readonly pluginFolders: readonly string[];
}

/** Returns the configuration of containerd and of the network of its pods. */
export const containerdFiles = (settings: ContainerdSettings, programs: ContainerdPrograms): Files => ({
  [configurationPath(settings.folder)]: configurationOf(settings, programs),
  [join(networksFolder(settings.folder), '10-pods.conflist')]:
    `${JSON.stringify(podNetworks(settings.podNetwork), undefined, 2)}\n`,
});

/** Every pod is on a bridge of its node. Ports of the node lead to pods through `portmap`. */
const podNetworks = (podNetwork: string): object => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      hairpinMode: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: podNetwork }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true }, backend: 'nftables' },
  ],
});

function configurationOf(
  { folder, pauseImage }: ContainerdSettings,
  { runc, pluginFolders }: ContainerdPrograms,
): string {
  const pinned = `
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${pauseImage}'
`;
  return `version = 3
root = '${folder}/root'
state = '/run/containerd'

[grpc]
  address = '${socket}'

[plugins.'io.containerd.internal.v1.opt']
  path = '${folder}/opt'
${pauseImage === undefined ? '' : pinned}
[plugins.'io.containerd.cri.v1.runtime']
  # Without CAP_SYS_RESOURCE, a container cannot have a lower score than containerd.
  restrict_oom_score_adj = true

  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'

    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'

      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = '${runc}'
        SystemdCgroup = false

  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ${JSON.stringify([...new Set(pluginFolders)])}
    conf_dir = '${networksFolder(folder)}'
`;
}
