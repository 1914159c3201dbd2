/** Requests per second of one client, in a separate process, to a Hangar in another: GET of a small ConfigMap, over TLS. */

import { table, thousands } from '../table.ts';
import { Hangar } from '../tenants/hangar.ts';
import { Program } from './program.ts';
import type { ClientOptions, Requests } from './programs/client.ts';

/** Published figure of @kubernetes/client-node: quoted, not measured here. */
const quotedPerSecond = 300;

export async function client(durationMs: number, rounds: number): Promise<readonly Requests[]> {
  return Hangar.use([], async (hangar) => {
    const options: ClientOptions = { kubeconfig: hangar.kubeconfig, durationMs, rounds };
    const measured: Requests[] = [];
    await using program = new Program('client', options, {
      onSaid: (what, value) => void (what === 'requests' && measured.push(value)),
    });
    await program.heard('done');
    const rows = measured.map(({ protocol, inFlight, perSecond, cpuUs }) => [
      `  ${protocol?.toUpperCase() ?? 'HTTP/2'}, ${inFlight} in flight`,
      thousands(perSecond),
      `${cpuUs.toFixed(0)} µs`,
    ]);
    rows.push(['  @kubernetes/client-node, as published (not measured here)', thousands(quotedPerSecond), '–']);
    console.log(table(['  GET', 'requests/s', 'CPU of the client'], rows));
    return measured;
  });
}
