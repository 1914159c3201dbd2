/** containerd of a node: its configuration, its start and the import of images. */

import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { tool } from '../../../tools/tool.ts';
import { imageArchives, imageName } from '../images/images.ts';
import type { ImageName } from '../images/images.ts';
import { NodeProgram } from './program.ts';
import type { Namespaces } from './namespaces.ts';
import { until } from './until.ts';

export const socket = '/run/containerd/containerd.sock';

const log = (line: string): void => console.log(line);
const plugins = ['cni-bridge', 'cni-host-local', 'cni-loopback', 'cni-portmap'] as const;

export interface ContainerdOptions {
  /** For the content of images, containers and the configuration. */
  readonly folder: string;
  readonly podNetwork: string;
  readonly logFile: string;
  /** Images to import. Absent: all. */
  readonly images?: readonly ImageName[];
}

/** Resolves when containerd serves requests and has all images. */
export async function startContainerd(namespaces: Namespaces, options: ContainerdOptions): Promise<NodeProgram> {
  const { folder, logFile } = options;
  const networks = join(folder, 'networks');
  await mkdir(networks, { recursive: true });
  await writeFile(join(networks, '10-pods.conflist'), JSON.stringify(podNetworks(options.podNetwork)));
  const configuration = join(folder, 'config.toml');
  await writeFile(configuration, await configurationOf(folder, networks));
  const paths = [dirname(await tool('containerd-shim-runc-v2', { log })), dirname(await tool('nft', { log }))];
  const program = await NodeProgram.start(namespaces, {
    path: await tool('containerd', { log }),
    args: [`--config=${configuration}`],
    env: { PATH: [...paths, process.env['PATH']].join(delimiter) },
    logFile,
  });
  const ctr = await tool('ctr', { log });
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
  images?: readonly ImageName[],
): Promise<void> {
  const present = new Set((await call('images', 'list', '--quiet')).split('\n'));
  for (const [name, archive] of await imageArchives(images)) {
    // A node that was stopped and started again has them.
    if (!present.has(imageName(name))) await call('images', 'import', '--local', archive);
  }
}

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

async function configurationOf(folder: string, networks: string): Promise<string> {
  const pluginFolders = await Promise.all(plugins.map(async (name) => dirname(await tool(name, { log }))));
  return `
version = 3
root = '${folder}/root'
state = '/run/containerd'

[grpc]
  address = '${socket}'

[plugins.'io.containerd.internal.v1.opt']
  path = '${folder}/opt'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${imageName('pause')}'

[plugins.'io.containerd.cri.v1.runtime']
  # Without CAP_SYS_RESOURCE, a container cannot have a lower score than containerd.
  restrict_oom_score_adj = true

  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'

    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'

      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = '${await tool('runc', { log })}'
        SystemdCgroup = false

  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ${JSON.stringify(pluginFolders)}
    conf_dir = '${networks}'
`;
}
