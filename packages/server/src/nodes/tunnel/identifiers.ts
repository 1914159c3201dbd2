/** The identifiers of an agent: the targets that it is the first choice for. */

export interface AgentIdentifiers {
  /** Addresses and host names of the agent's node. */
  readonly hosts: ReadonlySet<string>;
  /** The agent accepts targets that no other agent names. */
  readonly isDefaultRoute: boolean;
}

/** An agent names the addresses of one node. */
const hostsMax = 32;

/** Parses the header `agentIdentifiers`: `host=node-1&ipv4=10.0.0.5&ipv6=fd00::5&default-route=true`. Unknown keys are ignored. */
export function parseIdentifiers(header: string | undefined): AgentIdentifiers {
  const query = new URLSearchParams(header ?? '');
  const named = ['host', 'ipv4', 'ipv6'].flatMap((key) => query.getAll(key));
  return {
    hosts: new Set(named.slice(0, hostsMax).map((host) => host.toLowerCase())),
    isDefaultRoute: query.get('default-route') === 'true',
  };
}
