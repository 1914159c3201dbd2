/**
 * The network of the nodes of one test: a bridge of this machine, whose address the control plane listens on, and a cable to each node.
 *
 *     10.77.N.1         this machine       10.77.N.11, .12, …   nodes
 *     10.81.N.0/24      pods of the first node, 10.82.N.0/24 of the second, …
 *
 * N differs between tests that run at the same time. Nodes have routes to the pods of the others, and so has this machine: no
 * address is translated.
 */

import { run } from './command.ts';
import { interfaceName } from './names.ts';

export interface NodeAddresses {
  readonly index: number;
  readonly address: string;
  readonly podNetwork: string;
}

const numbers = 250;

export class NodeNetwork {
  /** Of this machine. */
  readonly hostAddress: string;
  readonly number: number;
  #connecting: Promise<void> = Promise.resolve();
  readonly #nodes: { readonly addresses: NodeAddresses; readonly pid: number }[] = [];

  private constructor(number: number) {
    this.number = number;
    this.hostAddress = `10.77.${number}.1`;
  }

  static async create(): Promise<NodeNetwork> {
    const name = interfaceName();
    await run('ip', 'link', 'add', name, 'type', 'bridge');
    // Not `os.networkInterfaces()`, which leaves out a bridge without cables.
    const used = await run('ip', '-oneline', '-4', 'address');
    for (let tries = 0; tries < numbers; tries++) {
      const number = (process.pid + tries) % numbers;
      if (used.includes(` 10.77.${number}.`)) continue;
      await run('ip', 'address', 'add', `10.77.${number}.1/24`, 'dev', name);
      await run('ip', 'link', 'set', name, 'up');
      return new NodeNetwork(number);
    }
    await run('ip', 'link', 'delete', name);
    throw new Error(
      `all of the networks 10.77.0.0/24 to 10.77.${numbers - 1}.0/24 are used by interfaces of this machine`,
    );
  }

  /** The networks of the nodes, of the pods of four nodes, and of services. */
  get networks(): string[] {
    const pods = [0, 1, 2, 3].map((index) => this.addressesOf(index).podNetwork);
    return [`10.77.${this.number}.0/24`, ...pods, '10.96.0.0/16'];
  }

  addressesOf(index: number): NodeAddresses {
    return { index, address: `10.77.${this.number}.${11 + index}`, podNetwork: `10.${81 + index}.${this.number}.0/24` };
  }

  /** Connects the network namespace of the process. Nodes that start at the same time are connected one after the other. */
  connect(addresses: NodeAddresses, pid: number): Promise<void> {
    const connected = this.#connecting.then(() => this.#connect(addresses, pid));
    this.#connecting = connected.catch(() => {});
    return connected;
  }

  async #connect(addresses: NodeAddresses, pid: number): Promise<void> {
    const { index, address, podNetwork } = addresses;
    const [bridge, cable] = [interfaceName(), interfaceName(index)];
    await run('ip', 'link', 'delete', cable).catch(() => {}); // Of a node that was stopped a moment ago.
    await run('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
    await run('ip', 'link', 'set', cable, 'master', bridge, 'up');
    const inside = (...args: string[]): Promise<string> => run('nsenter', `--net=/proc/${pid}/ns/net`, 'ip', ...args);
    await inside('link', 'set', 'lo', 'up');
    await inside('address', 'add', `${address}/24`, 'dev', 'eth0');
    await inside('link', 'set', 'eth0', 'up');
    // The kubelet and kube-proxy find the address of the node by the default route.
    await inside('route', 'add', 'default', 'via', this.hostAddress);
    await run('ip', 'route', 'replace', podNetwork, 'via', address, 'dev', bridge);
    this.disconnect(addresses);
    for (const other of this.#nodes) {
      await inside('route', 'add', other.addresses.podNetwork, 'via', other.addresses.address);
      const back = ['ip', 'route', 'replace', podNetwork, 'via', address];
      await run('nsenter', `--net=/proc/${other.pid}/ns/net`, ...back);
    }
    this.#nodes.push({ addresses, pid });
  }

  disconnect({ index }: NodeAddresses): void {
    const place = this.#nodes.findIndex(({ addresses }) => addresses.index === index);
    if (place !== -1) this.#nodes.splice(place, 1);
  }

  async remove(): Promise<void> {
    await run('ip', 'link', 'delete', interfaceName());
  }
}
