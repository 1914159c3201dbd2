/** A disk that is full or read-only for a while, again and again. */

import { chance, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { VirtualDisk } from '@hangar/core/simulation';
import type { Process } from './process.ts';
import type { Profile } from './profile.ts';
import type { Recorder } from './recorder.ts';

export interface DisturbanceOptions {
  disk: VirtualDisk;
  process: Process;
  profile: Profile;
  random: Random;
  recorder: Recorder;
}

export function disturbDisk({ disk, process, profile, random, recorder }: DisturbanceOptions): { stop(): void } {
  const state = { stopped: !profile.diskRefuses };
  const heal = () => {
    disk.readOnly = false;
    disk.capacityBytes = Infinity;
  };
  const disturb = async () => {
    while (!state.stopped) {
      await sleep(process.clock, random.fraction() * profile.lifeMaxMs);
      if (state.stopped) return;
      recorder.note('the disk refuses writes');
      if (chance(random, 0.3)) disk.readOnly = true;
      else disk.capacityBytes = usedBytes(disk) + random.below(2_000);
      // Sometimes so long that a lease ends while nothing can be written.
      await sleep(process.clock, random.fraction() * (chance(random, 0.3) ? 2_500 : 200));
      heal();
    }
  };
  void disturb();
  return {
    stop() {
      state.stopped = true;
      heal();
    },
  };
}

function usedBytes(disk: VirtualDisk): number {
  return (disk.peek('/data/journal')?.length ?? 0) + (disk.peek('/data/journal.next')?.length ?? 0);
}
