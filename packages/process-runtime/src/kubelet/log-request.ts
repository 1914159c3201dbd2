/** `GET /containerLogs/<namespace>/<pod>/<container>`. */

import type { ServerResponse } from 'node:http';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import type { Clock } from '@hangar/core';
import { readLog } from '../logs/log-reader.ts';
import type { Pods } from '../pods/pods.ts';

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

/** Writes the log as the response. */
export async function serveLog(
  { namespace, pod: podName, container, query }: LogRequest,
  response: ServerResponse,
  { pods, clock }: { pods: Pods; clock: Clock },
): Promise<void> {
  const refuse = (status: number, text: string): void => void response.writeHead(status).end(text);
  const worker = pods.byName(namespace, podName);
  if (!worker) return refuse(404, `pod ${JSON.stringify(podName)} not found\n`);
  const unit = worker.unit(container);
  if (!unit) return refuse(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(podName)}\n`);
  const isPrevious = query.get('previous') === 'true';
  const path = unit.logPath(isPrevious ? unit.restartCount - 1 : unit.restartCount);
  const described = `container ${JSON.stringify(container)} in pod ${JSON.stringify(podName)}`;
  if (isPrevious && !existsSync(path)) {
    return refuse(400, `previous terminated ${described} not found`);
  }
  const { waiting } = unit.state;
  if (!unit.hasRun && waiting) {
    return refuse(400, `${described} is waiting to start: ${waiting.reason}`);
  }
  const stop = new AbortController();
  response.once('close', () => stop.abort());
  response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
  const run = unit.restartCount;
  const isFollowed = query.get('follow') === 'true' && !isPrevious;
  const chunks = readLog({
    path,
    tailLines: numberIn(query, 'tailLines'),
    sinceMs: sinceIn(query, clock),
    limitBytes: numberIn(query, 'limitBytes'),
    isTimestamped: query.get('timestamps') === 'true',
    isRunning: isFollowed ? () => unit.isRunning && unit.restartCount === run : undefined,
    clock,
    signal: stop.signal,
  });
  response.flushHeaders();
  for await (const chunk of chunks) {
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (stop.signal.aborted) return;
  }
  response.end();
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null || !/^\d+$/.test(text) ? undefined : Number(text);
}

function sinceIn(query: URLSearchParams, clock: Clock): number | undefined {
  const seconds = numberIn(query, 'sinceSeconds');
  if (seconds !== undefined) return clock.now() - seconds * 1_000;
  const time = query.get('sinceTime');
  return time === null ? undefined : Date.parse(time);
}
