/** Metrics of the process, under the names of Prometheus' own client libraries. */

import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { handshakeErrorCount } from '../http/plain-http.ts';

type IntervalHistogram = ReturnType<typeof monitorEventLoopDelay>;

const startSeconds = Date.now() / 1_000 - process.uptime();

/** Started by the first request for metrics: a server without monitoring does not pay for it. */
let delay: IntervalHistogram | undefined;

export function processMetrics(): string {
  delay ??= begunDelay();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const lines = [
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', rss),
    gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', startSeconds),
    counter('process_cpu_seconds_total', 'User and system CPU time in seconds.', (user + system) / 1e6),
    gauge('nodejs_heap_size_used_bytes', 'Used JavaScript heap in bytes.', heapUsed),
    gauge('nodejs_heap_size_total_bytes', 'Total JavaScript heap in bytes.', heapTotal),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers and other external objects in bytes.', external),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      '99th percentile of the event loop lag since the last scrape in seconds.',
      lagSeconds(delay),
    ),
    counter('apiserver_tls_handshake_errors_total', 'Number of failed TLS handshakes.', handshakeErrorCount()),
    ...openFiles(),
  ];
  delay.reset();
  return lines.join('\n');
}

/** A new histogram has no measurements yet. */
const lagSeconds = (histogram: IntervalHistogram): number =>
  histogram.count === 0 ? 0 : histogram.percentile(99) / 1e9;

function begunDelay(): IntervalHistogram {
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return histogram;
}

/** Returns the open files on systems that list them. */
function openFiles(): string[] {
  try {
    return [
      gauge('process_open_fds', 'Number of open file descriptors.', readdirSync('/proc/self/fd').length),
      gauge('process_max_fds', 'Maximum number of open file descriptors.', descriptorsMax()),
      gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', virtualBytes()),
    ];
  } catch {
    return [];
  }
}

function descriptorsMax(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}

function virtualBytes(): number {
  const [, kibibytes = '0'] = /^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return Number(kibibytes) * 1_024;
}

const metric = (type: string, name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}`;
const gauge = (name: string, help: string, value: number): string => metric('gauge', name, help, value);
const counter = (name: string, help: string, value: number): string => metric('counter', name, help, value);
