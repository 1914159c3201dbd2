/** Does the server answer, is it ready, and does its clock go as ours does? */

import { explain } from '../../explain.ts';
import { plain } from '../../terminal/plain-text.ts';
import { serverVersion } from '../../commands/common/server-version.ts';
import { bad, doubtful, good } from '../finding.ts';
import type { Check, DoctorWorld, Finding } from '../finding.ts';

export const server: Check = {
  name: 'server',
  async look(world) {
    if (!world.config) return [];
    const { signal } = world.session;
    try {
      const client = await world.client();
      world.serverVersion = (await serverVersion(client, signal)).gitVersion;
    } catch (error) {
      const { message = 'interrupted', next } = explain(error);
      return [bad(`server: ${message}`, next)];
    }
    world.isReachable = true;
    return [good(`server: Kubernetes ${plain(world.serverVersion)}`), ...(await readiness(world))];
  },
};

async function readiness({ client, session }: DoctorWorld): Promise<Finding[]> {
  const { clock, signal } = session;
  const begunMs = clock.now();
  const answer = await (await client()).raw({ method: 'GET', target: '/readyz?verbose', signal });
  const endedMs = clock.now();
  const text = (await answer.body()).toString();
  const failing = text.split('\n').filter((line) => line.startsWith('[-]'));
  const ready =
    answer.status === 200
      ? good('server: ready')
      : bad(
          `server: not ready${failing.length > 0 ? `: ${failing.map(plain).join(', ')}` : ''}`,
          'see the log of the server',
        );
  return [ready, ...skew(answer.header('date'), begunMs, endedMs)];
}

const skewMaxMs = 60_000;
const skewSomeMs = 5_000;

/** The header has whole seconds; the answer was made between the two times. */
function skew(date: string | undefined, begunMs: number, endedMs: number): Finding[] {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return [doubtful('clock: the server does not send its time')];
  const aheadMs = theirs + 1_000 < begunMs ? theirs + 1_000 - begunMs : theirs > endedMs ? theirs - endedMs : 0;
  const text = `clock: the server is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(aheadMs) > skewMaxMs)
    return [bad(text, 'synchronise both clocks: certificates and tokens depend on them')];
  return Math.abs(aheadMs) > skewSomeMs
    ? [doubtful(text, 'synchronise both clocks')]
    : [good('clock: the same time as the server')];
}
