import { readFileSync } from 'node:fs';

/** The unit of CPU times in `/proc` on all platforms of Node. */
const ticksPerSecond = 100;

/** Returns the CPU time of this process and, on Linux, of all programs that it started and that exited. */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + exitedProgramsMs();
}

function exitedProgramsMs(): number {
  if (process.platform !== 'linux') return 0;
  // See proc_pid_stat(5). The name of the program, in parentheses, can contain spaces: fields are counted after it.
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [cutime, cstime] = [fields[13], fields[14]];
  return ((Number(cutime) + Number(cstime)) * 1000) / ticksPerSecond;
}
