/** The streams of exec and attach: collects those that the query announces, then runs the session. */

import type { Duplex } from 'node:stream';
import { SpdyServerConnection } from '@hangar/http2/spdy';
import type { SpdyServerStream } from '@hangar/http2/spdy';
import type { Clock } from '@hangar/core';

export type StreamName = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize';

export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export const wantedStreams = (query: URLSearchParams): WantedStreams => {
  const flag = (name: string): boolean => ['1', 'true'].includes(query.get(name) ?? '');
  const tty = flag('tty');
  return { stdin: flag('input'), stdout: flag('output'), stderr: flag('error') && !tty, tty };
};

/** The result of a command as a Status, which protocol v4 sends on the error stream. */
export function exitStatus(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

export const failureStatus = (message: string): object => ({
  metadata: {},
  status: 'Failure',
  reason: 'InternalError',
  message: `Internal error occurred: ${message}`,
  code: 500,
});

export interface RemoteSession {
  readonly connection: SpdyServerConnection;
  output(name: 'stdout' | 'stderr', data: Buffer): boolean;
  /** Called with the input of the client. */
  onInput(data: (piece: Buffer) => void, end: () => void): void;
  /** Called when the client closes the connection. */
  onClose(callback: () => void): void;
  /** Sends the status and closes the connection. */
  conclude(status: object): void;
}

export interface SessionOptions {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly wanted: WantedStreams;
  /** Protocol v4 sends a Status on the error stream, earlier ones plain text. */
  readonly hasStatus: boolean;
  readonly clock: Clock;
  start(session: RemoteSession): void;
}

/** As in the kubelet. */
const streamsTimeoutMs = 30_000;

export function openSession({ socket, head, wanted, hasStatus, clock, start }: SessionOptions): void {
  const expected = new Set<StreamName>(['error']);
  if (wanted.stdin) expected.add('stdin');
  if (wanted.stdout) expected.add('stdout');
  if (wanted.stderr) expected.add('stderr');
  if (wanted.tty) expected.add('resize');
  const streams = new Map<StreamName, SpdyServerStream>();
  const input: Buffer[] = [];
  let isInputEnded = false;
  let onData = (piece: Buffer): void => void input.push(Buffer.from(piece));
  let onEnd = (): void => void (isInputEnded = true);
  const onClose: (() => void)[] = [];
  let isOver = false;

  const session: RemoteSession = {
    get connection() {
      return connection;
    },
    output: (name, data) => streams.get(name)?.write(data) ?? true,
    onInput(data, end) {
      onData = data;
      onEnd = end;
      for (const piece of input.splice(0)) data(piece);
      if (isInputEnded) end();
    },
    onClose: (callback) => void (isOver ? callback() : onClose.push(callback)),
    conclude(status) {
      if (isOver) return;
      isOver = true;
      const { status: result, message } = status as { status: string; message?: string };
      if (hasStatus) streams.get('error')?.write(Buffer.from(JSON.stringify(status)));
      else if (result !== 'Success') streams.get('error')?.write(Buffer.from(message ?? ''));
      for (const stream of streams.values()) stream.finish();
      connection.close();
    },
  };
  const timer = clock.after(streamsTimeoutMs, () => connection.close());
  const connection: SpdyServerConnection = new SpdyServerConnection({
    socket,
    head,
    onStream(stream) {
      const name = stream.headers['streamtype'] as StreamName;
      if (!expected.has(name) || streams.has(name)) return undefined;
      streams.set(name, stream);
      if (streams.size === expected.size) {
        timer.cancel();
        // After the reader has delivered the frames that are already here.
        clock.soon(() => isOver || start(session));
      }
      return {
        data: (piece) => (name === 'stdin' ? onData(piece) : undefined),
        end: () => (name === 'stdin' ? onEnd() : undefined),
      };
    },
    onClose() {
      isOver = true;
      timer.cancel();
      for (const callback of onClose) callback();
    },
  });
}
