/** Profiles a process with the sampling profiler: shares by package, not by function, because decisions are made per package. */

import { Session } from 'node:inspector/promises';

export type Shares = Readonly<Record<string, number>>;

/** Profiles `work`; idle time does not count. */
export async function profiled(work: () => Promise<void>): Promise<Shares> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const places = new Map(
    profile.nodes.map(({ id, callFrame }) => [id, placeOf(callFrame.functionName, callFrame.url)]),
  );
  const spent = new Map<string, number>();
  let all = 0;
  for (const [at, node] of (profile.samples ?? []).entries()) {
    const place = places.get(node)!;
    const deltaUs = profile.timeDeltas![at]!;
    if (place === 'idle') continue;
    spent.set(place, (spent.get(place) ?? 0) + deltaUs);
    all += deltaUs;
  }
  const sorted = [...spent].sort(([, one], [, other]) => other - one);
  return Object.fromEntries(sorted.map(([place, us]) => [place, us / all]));
}

function placeOf(name: string, url: string): string {
  // The start of the profiler itself does not count.
  if (name === '(idle)' || url === 'node:inspector') return 'idle';
  if (name === '(garbage collector)') return 'collecting garbage';
  if (url.startsWith('node:')) return 'Node';
  const [, own] = /\/packages\/([^/]+\/src\/[^/.]+)/.exec(url) ?? [];
  if (own !== undefined) return own.replace('/src/', '/');
  return url === '' ? 'V8 and native code' : 'the benchmark itself';
}

/** `cache 31 %, queue 12 %, …`: shares of at least a twentieth. */
export const sharesLine = (shares: Shares): string =>
  Object.entries(shares)
    .filter(([, share]) => share >= 0.05)
    .map(([place, share]) => `${place} ${(share * 100).toFixed(0)} %`)
    .join(', ');
