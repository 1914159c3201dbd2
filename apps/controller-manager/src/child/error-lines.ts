/** Finds the lines of a program's output that report an error: those of klog, of Go's runtime, and of the shell that could not start it. */

const charactersMax = 500;

/** Severity and date, time, thread, `file:line]`. */
const klog = /^[EF]\d{4} [\d:.]+ +\d+ [^\]]*\] (?<message>.*)$/;
const shell = /\bkeeper\.sh: line \d+: (?<message>.*)$/;
const plain = /^(?<message>(?:panic|fatal error|fatal|error): .*)$/i;

/** Returns the message of the line without its time and source; undefined when it does not look like an error. */
export function errorIn(line: string): string | undefined {
  const message = line.startsWith('{')
    ? jsonError(line)
    : (klog.exec(line) ?? plain.exec(line) ?? shell.exec(line))?.groups?.['message'];
  return message?.slice(0, charactersMax);
}

/** Parses klog's JSON format: only errors have no verbosity. */
function jsonError(line: string): string | undefined {
  if (!line.includes('"msg"') || line.includes('"v":')) return undefined;
  try {
    const { msg, err } = JSON.parse(line) as { msg?: unknown; err?: unknown };
    return typeof err === 'string' ? `${String(msg)}: ${err}` : String(msg);
  } catch {
    return undefined;
  }
}
