/** The connected agents of a control plane, and the choice between them. */

import type { Agent } from './agent.ts';

export class Agents {
  readonly #agents = new Set<Agent>();
  #turn = 0;

  get size(): number {
    return this.#agents.size;
  }

  [Symbol.iterator](): IterableIterator<Agent> {
    return this.#agents.values();
  }

  add(agent: Agent): void {
    this.#agents.add(agent);
  }

  /** Returns false if it was not there. */
  delete(agent: Agent): boolean {
    return this.#agents.delete(agent);
  }

  /** Number of connections through all agents. */
  get load(): number {
    let load = 0;
    for (const agent of this.#agents) load += agent.load;
    return load;
  }

  /**
   * Returns the agent for a target: one that names the target, else one with a default route, else any. Agents that are equal take turns.
   * Draining agents are used only if there is no other. Returns undefined without an agent that is not in `except`.
   */
  choose(host: string, except: ReadonlySet<Agent>): Agent | undefined {
    const all = [...this.#agents].filter((agent) => !except.has(agent));
    const active = all.filter((agent) => !agent.isDraining);
    const usable = firstOfEach(active.length > 0 ? active : all);
    const name = host.toLowerCase();
    const groups = [
      usable.filter(({ identifiers }) => identifiers.hosts.has(name)),
      usable.filter(({ identifiers }) => identifiers.isDefaultRoute),
      usable,
    ];
    const group = groups.find(({ length }) => length > 0);
    return group?.[this.#turn++ % group.length];
  }
}

/** An agent that connects twice closes its later stream. */
function firstOfEach(agents: readonly Agent[]): Agent[] {
  const first = new Map<string, Agent>();
  for (const agent of agents) if (!first.has(agent.id)) first.set(agent.id, agent);
  return [...first.values()];
}
