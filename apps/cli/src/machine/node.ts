/**
 * A node: namespaces with containerd, a kubelet and kube-proxy.
 *
 *     const node = new Node({ name: 'node-a', network, addresses: network.addressesOf(0), folder, cgroup, programs });
 *     await node.start();                                // containerd runs and has the images
 *     await node.joinPlane(membership);                  // kubelet and kube-proxy
 *     await node.killKubelet();
 *     await node.stop();                                 // all processes; files and cgroup remain
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCgroup } from './cgroups.ts';
import { startContainerd } from './containerd.ts';
import type { ContainerdOptions, ImageArchive } from './containerd.ts';
import { startKubelet } from './kubelet.ts';
import type { KubeletSettings } from './kubelet.ts';
import { startKubeProxy } from './kube-proxy.ts';
import { Namespaces } from './namespaces.ts';
import type { NodeAddresses, NodeNetwork } from './network.ts';
import { lastLines, NodeProgram } from './program.ts';
import type { NodePrograms } from './programs.ts';

export type Join = Pick<KubeletSettings, 'bootstrapKubeconfig' | 'clientAuthority' | 'nameservers' | 'configuration'>;

export interface Membership {
  readonly join: Join;
  /** Path of the kubeconfig of `system:kube-proxy`. */
  readonly kubeProxyKubeconfig: string;
}

export interface NodeOptions {
  readonly name: string;
  readonly network: NodeNetwork;
  readonly addresses: NodeAddresses;
  /** For all files of the node, at a path that `folderProblem` accepts. */
  readonly folder: string;
  /** Name of the cgroup, at the top of each hierarchy. */
  readonly cgroup: string;
  readonly programs: NodePrograms;
  readonly pauseImage?: string | undefined;
}

export interface StartOptions extends Pick<ContainerdOptions, 'env'> {
  readonly images?: readonly ImageArchive[];
}

export class Node {
  readonly name: string;
  readonly addresses: NodeAddresses;
  readonly folder: string;
  readonly cgroup: string;
  readonly #options: NodeOptions;
  readonly #programs = new Map<string, NodeProgram>();
  #namespaces: Namespaces | undefined;

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.addresses = options.addresses;
    this.folder = options.folder;
    this.cgroup = options.cgroup;
    this.#options = options;
  }

  get namespaces(): Namespaces {
    if (!this.#namespaces) throw new Error(`node ${this.name} is stopped`);
    return this.#namespaces;
  }

  /** Starts the namespaces and containerd; after `stop`, with the files of the earlier run. */
  async start(options: StartOptions = {}): Promise<void> {
    await this.startNamespaces();
    await this.startContainerd(options);
  }

  /** Creates the cgroup, starts the first process and connects the node to the network. */
  async startNamespaces(): Promise<void> {
    await mkdir(join(this.folder, 'logs'), { recursive: true });
    await createCgroup(this.cgroup);
    this.#namespaces = await Namespaces.start(this.name, this.folder);
    await this.#options.network.connect(this.addresses, this.#namespaces.pid);
  }

  /** Starts containerd, or starts it again. Resolves when it serves requests. */
  async startContainerd({ images = [], env }: StartOptions = {}): Promise<NodeProgram> {
    const { programs, pauseImage } = this.#options;
    const places = { folder: this.folderOf('containerd'), logFile: this.logFile('containerd') };
    const { podNetwork } = this.addresses;
    const options = { ...places, programs, podNetwork, pauseImage, images, ...(env && { env }) };
    return this.#keep('containerd', await startContainerd(this.namespaces, options));
  }

  /** Starts the kubelet, or starts it again. Returns before the Node is ready. */
  async startKubelet(join: Join): Promise<NodeProgram> {
    const { name, cgroup, addresses } = this;
    const places = { folder: this.folderOf('kubelet-config'), logFile: this.logFile('kubelet') };
    const { programs } = this.#options;
    const options = { ...join, ...places, programs, nodeName: name, address: addresses.address, cgroup };
    return this.#keep('kubelet', await startKubelet(this.namespaces, options));
  }

  /** Starts the kubelet and kube-proxy as a member of the control plane. Returns before the Node is ready. */
  async joinPlane({ join, kubeProxyKubeconfig }: Membership): Promise<void> {
    await this.startKubelet(join);
    await this.startKubeProxy(kubeProxyKubeconfig);
  }

  /** Kills the kubelet alone; pods continue. */
  async killKubelet(): Promise<void> {
    await this.#programs.get('kubelet')?.stop('SIGKILL');
  }

  async startKubeProxy(kubeconfig: string): Promise<NodeProgram> {
    const places = { folder: this.folderOf('kube-proxy'), logFile: this.logFile('kube-proxy') };
    const { programs } = this.#options;
    const options = { ...places, programs, kubeconfig, nodeName: this.name, podNetwork: this.addresses.podNetwork };
    return this.#keep('kube-proxy', await startKubeProxy(this.namespaces, options));
  }

  readFile(path: string): Promise<string> {
    return this.run('cat', path);
  }

  /** Keeps a symbolic link, and writes the file that it names. */
  async writeFile(path: string, text: string): Promise<void> {
    const file = join(this.folder, 'new-file');
    await writeFile(file, text, { mode: 0o600 });
    await this.run('cp', file, path);
  }

  /** Runs a command on the node, and returns its output. */
  run(program: string, ...args: readonly string[]): Promise<string> {
    return this.namespaces.run(program, ...args);
  }

  /** Starts a program of the node; it is part of `logs`. */
  async startProgram(name: string, path: string, args: readonly string[]): Promise<NodeProgram> {
    const options = { path, args, logFile: this.logFile(name) };
    return this.#keep(name, await NodeProgram.start(this.namespaces, options));
  }

  /** Returns the program that was started last under this name. */
  program(name: string): NodeProgram | undefined {
    return this.#programs.get(name);
  }

  /** Ends everything on the node at once, as a power cut does. */
  async stop(): Promise<void> {
    this.#programs.clear();
    await this.#namespaces?.stop();
    this.#namespaces = undefined;
    await this.#options.network.disconnect(this.addresses);
  }

  logFile(program: string): string {
    return join(this.folder, 'logs', `${program}.log`);
  }

  folderOf(program: string): string {
    return join(this.folder, program);
  }

  async logs(): Promise<string> {
    const files = await readdir(join(this.folder, 'logs')).catch(() => []);
    const texts = files.map(
      async (file) => `── ${this.name} ${file}\n${await lastLines(join(this.folder, 'logs', file))}`,
    );
    return (await Promise.all(texts)).join('\n');
  }

  #keep(name: string, program: NodeProgram): NodeProgram {
    this.#programs.set(name, program);
    return program;
  }
}
