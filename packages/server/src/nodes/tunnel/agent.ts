/**
 * One connected agent: a gRPC stream of packets in both directions, and the connections through it.
 *
 * Back-pressure. The protocol has no window for a connection, only HTTP/2's window of the whole stream. Towards the agent, a connection is
 * writable while the stream has room. From the agent, a connection whose reader is slow pauses the stream, and with it all other connections
 * of the agent. If others wait, the reader has `stallMs` to catch up; then its connection is closed, so that it does not stop the others.
 */

import type { Readable } from 'node:stream';
import { quote } from '@hangar/api';
import { runActivity } from '@hangar/core';
import type { Activity, Clock, Timer } from '@hangar/core';
import { Allowance } from '@hangar/http2';
import { grpcStatus, MessageAssembler } from '@hangar/http2/grpc';
import type { GrpcError } from '@hangar/http2/grpc';
import type { Sink } from '../../http/message.ts';
import { OutboundError } from '../../outbound/index.ts';
import { TunnelConnection } from './connection.ts';
import type { ConnectionHost } from './connection.ts';
import { grpcTrailers } from './grpc-answer.ts';
import type { HeldBytes, HeldBytesUser } from './held-bytes.ts';
import type { AgentIdentifiers } from './identifiers.ts';
import type { TunnelLimits } from './limits.ts';
import { closeRequest, dataPacket, decodePacket, dialClose, dialRequest, packetType } from './packets.ts';
import type { Packet } from './packets.ts';

export interface AgentOptions {
  readonly id: string;
  readonly identifiers: AgentIdentifiers;
  readonly limits: TunnelLimits;
  readonly clock: Clock;
  /** Shared by all agents of the control plane. */
  readonly held: HeldBytes;
  /** Receives the time that packets of this agent cost. */
  readonly activity: Activity | undefined;
  /** Called once. `violation`: the agent broke the protocol or exceeded a limit. */
  readonly onEnd: (agent: Agent, violation: string | undefined) => void;
}

interface PendingDial {
  readonly address: string;
  resolve(connection: TunnelConnection): void;
  reject(error: OutboundError): void;
}

/** The real server sends as much at once. The agent forwards each packet as a whole. */
const dataBytesMax = 32 * 1024;
/** Closed connections that the agent has not confirmed: their packets may still arrive. */
const unconfirmedMax = 2_000;
/** Bytes for an agent that does not read. Connections and dials wait long before. */
const unreadBytesMax = 1024 * 1024;

/** Returns the pieces as one buffer, without a view of a small part, which would keep the whole buffer (or Node's pool) in memory. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  if (pieces.length === 1 && first!.length * 4 >= first!.buffer.byteLength) return first!;
  const all = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(all, at);
  return all;
}

/** The agent is disconnected. Another agent may be tried. */
export class AgentLost extends OutboundError {}

export class Agent implements ConnectionHost, HeldBytesUser {
  readonly id: string;
  readonly identifiers: AgentIdentifiers;
  isDraining = false;
  readonly #options: AgentOptions;
  readonly #assembler: MessageAssembler;
  readonly #useless: Allowance;
  readonly #pending = new Map<number, PendingDial>();
  /** Connections that the agent has open. */
  readonly #connections = new Map<number, TunnelConnection>();
  /** Also those that the agent has closed, while they hold bytes for their readers. */
  readonly #all = new Set<TunnelConnection>();
  readonly #unconfirmed = new Set<number>();
  /** Connections that hold too many bytes. */
  readonly #slow = new Set<TunnelConnection>();
  /** Data of the current chunk by connection, which is passed on when the chunk was parsed. */
  readonly #gathered = new Map<TunnelConnection, Buffer[]>();
  /** Messages that were parsed and wait for the next turn of the event loop. */
  #messages: Buffer[] = [];
  #body: Readable | undefined;
  #sink: Sink | undefined;
  #isFull = false;
  /** Writes that wait until the stream has room. */
  #writes: (() => void)[] = [];
  #stall: Timer | undefined;
  #isPaused = false;
  #isTurnPending = false;
  #isEnded = false;
  #nextRandom = 1;
  /** Number of packets received. */
  #received = 0;

  constructor(options: AgentOptions) {
    this.id = options.id;
    this.identifiers = options.identifiers;
    this.#options = options;
    this.#assembler = new MessageAssembler(options.limits.packetBytesMax);
    const { burst, perSecond } = options.limits.uselessPackets;
    this.#useless = new Allowance(options.clock, burst, perSecond);
  }

  /** Number of open connections and of connections being opened. */
  get load(): number {
    return this.#all.size + this.#pending.size;
  }

  /** `body` carries packets from the agent, `sink` to the agent. */
  start(body: Readable, sink: Sink): void {
    this.#body = body;
    this.#sink = sink;
    sink.onDrain(() => this.#drained());
    sink.onClose(() => this.#lost(undefined));
    body.on('data', (chunk: Buffer) => this.#inActivity(() => this.#feed(chunk)));
    body.once('end', () => this.end(grpcStatus.ok, ''));
    body.once('error', () => this.#lost(undefined));
  }

  /** Rejects with `AgentLost` if another agent may be tried, and with another OutboundError otherwise. */
  dial(address: string, signal?: AbortSignal): Promise<TunnelConnection> {
    const { clock, limits } = this.#options;
    if (this.#isEnded) return Promise.reject(this.#lostError());
    if (signal?.aborted) return Promise.reject(new OutboundError('Aborted', 'context canceled'));
    const random = this.#nextRandom++;
    const receivedBefore = this.#received;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#pending.delete(random);
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        settle();
        this.#send(dialClose(random));
        reject(new OutboundError('Aborted', 'context canceled'));
      };
      const timer = clock.after(limits.dialMs, () => {
        settle();
        reject(this.#unanswered(address));
        // An agent that sent nothing at all meanwhile has probably lost its network.
        if (this.#received === receivedBefore && !this.#isPaused) this.#lost('did not answer a dial');
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(random, {
        address,
        resolve: (connection) => (settle(), resolve(connection)),
        reject: (error) => (settle(), reject(error)),
      });
      this.#send(dialRequest(address, random));
      if (this.#isPaused) this.#watchStall();
    });
  }

  #unanswered(address: string): OutboundError {
    const { dialMs } = this.#options.limits;
    return new OutboundError(
      'Timeout',
      `dial tcp ${address}: konnectivity agent ${quote(this.id)} did not answer in ${dialMs} ms`,
    );
  }

  // From the agent.

  #inActivity(work: () => void): void {
    const { activity } = this.#options;
    if (!activity) return work();
    runActivity(activity, () => {
      activity.meter?.runs();
      work();
    });
  }

  #feed(chunk: Buffer): void {
    if (this.#isEnded) return;
    try {
      this.#assembler.push(chunk, (message) => this.#messages.push(message));
    } catch (error) {
      return this.#violated((error as Error).message, (error as GrpcError).status);
    }
    this.#handleSome();
  }

  /** Handles a limited number of packets, then lets others run. */
  #handleSome(): void {
    if (this.#isEnded) return;
    const { packetsPerTurn } = this.#options.limits;
    const now = this.#messages.length <= packetsPerTurn ? this.#messages : this.#messages.slice(0, packetsPerTurn);
    this.#messages = now === this.#messages ? [] : this.#messages.slice(packetsPerTurn);
    try {
      for (const message of now) {
        this.#handle(decodePacket(message));
        if (this.#isEnded) return;
      }
    } catch (error) {
      return this.#violated((error as Error).message, grpcStatus.invalidArgument);
    }
    this.#passGathered();
    if (this.#messages.length > 0) this.#takeTurn();
    this.#pace();
  }

  #takeTurn(): void {
    this.#isTurnPending = true;
    this.#options.clock.soon(() =>
      this.#inActivity(() => {
        this.#isTurnPending = false;
        this.#handleSome();
      }),
    );
  }

  #handle(packet: Packet): void {
    this.#received++;
    switch (packet.type) {
      case packetType.data:
        return this.#data(packet);
      case packetType.dialResponse:
        return this.#dialed(packet);
      case packetType.closeResponse:
        return this.#closedByAgent(packet);
      case packetType.dialClose:
        return this.#dialClosed(packet);
      case packetType.drain:
        this.isDraining = true;
        return this.#useful(false);
      default:
        return this.#useful(false);
    }
  }

  /** Counts packets without use. */
  #useful(isUseful: boolean): void {
    if (!isUseful && !this.#useless.take()) {
      this.#violated(
        'it sent too many packets for unknown connections or without content',
        grpcStatus.resourceExhausted,
      );
    }
  }

  #data({ connectId, data }: Packet): void {
    const connection = this.#connections.get(connectId);
    // Data may cross the request to close its connection.
    if (!connection) return this.#unconfirmed.has(connectId) ? undefined : this.#unknown(connectId);
    if (data.length === 0) return this.#useful(false);
    const gathered = this.#gathered.get(connection);
    if (gathered) gathered.push(data);
    else this.#gathered.set(connection, [data]);
  }

  #unknown(connectId: number): void {
    this.#useful(false);
    if (connectId !== 0) this.#send(closeRequest(connectId));
  }

  #passGathered(): void {
    if (this.#gathered.size === 0) return;
    for (const [connection, pieces] of this.#gathered) {
      if (!connection.destroyed) this.#deliver(connection, pieces);
    }
    this.#gathered.clear();
  }

  #deliver(connection: TunnelConnection, pieces: readonly Buffer[]): void {
    const data = joined(pieces);
    this.#options.held.add(data.length);
    connection.receive(data);
    if (connection.heldBytes > this.#options.limits.connectionBytesMax) this.#slow.add(connection);
  }

  #dialed({ random, connectId, error }: Packet): void {
    const dial = this.#pending.get(random);
    if (!dial) return this.#unknown(connectId);
    if (error !== '') return dial.reject(new OutboundError('Unreachable', error));
    if (connectId === 0 || this.#connections.has(connectId) || this.#unconfirmed.has(connectId)) {
      return this.#violated(`it used the connection ID ${connectId} twice`, grpcStatus.invalidArgument);
    }
    const connection = new TunnelConnection(connectId, dial.address, this);
    this.#connections.set(connectId, connection);
    this.#all.add(connection);
    dial.resolve(connection);
  }

  #dialClosed({ random }: Packet): void {
    const dial = this.#pending.get(random);
    if (!dial) return this.#useful(false);
    dial.reject(
      new OutboundError(
        'Unreachable',
        `dial tcp ${dial.address}: konnectivity agent ${quote(this.id)} closed the dial`,
      ),
    );
  }

  #closedByAgent({ connectId, error }: Packet): void {
    const connection = this.#connections.get(connectId);
    if (!connection) return this.#useful(this.#unconfirmed.delete(connectId));
    const gathered = this.#gathered.get(connection);
    if (gathered) this.#deliver(connection, gathered);
    this.#gathered.delete(connection);
    this.#connections.delete(connectId);
    connection.remoteClosed(error);
  }

  // Pacing of the stream from the agent.

  taken(connection: TunnelConnection, bytes: number): void {
    this.#options.held.release(bytes);
    if (connection.heldBytes <= this.#options.limits.connectionBytesMax / 2 && this.#slow.delete(connection))
      this.#pace();
  }

  /** Pauses or resumes the stream of the agent. */
  #pace(): void {
    if (this.#isEnded) return;
    const isPaused = this.#slow.size > 0 || this.#isTurnPending || this.#options.held.isFull(this);
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) {
      this.#body!.pause();
      this.#watchStall();
    } else {
      this.#stall?.cancel();
      this.#stall = undefined;
      this.#body!.resume();
    }
  }

  hasRoom(): void {
    this.#pace();
  }

  #watchStall(): void {
    if (this.#stall || this.#isTurnPending) return;
    const { clock, limits } = this.#options;
    this.#stall = clock.after(limits.stallMs, () => {
      this.#stall = undefined;
      if (!this.#isPaused) return;
      if (this.load > 1 || this.#options.held.isFull(this)) this.#endSlow();
      if (this.#isPaused) this.#watchStall();
    });
  }

  /** Closes the connections that keep the stream paused. If all of them together hold too much, those that hold the most. */
  #endSlow(): void {
    const slow = [...this.#slow];
    const [largest] = [...this.#all].sort((a, b) => b.heldBytes - a.heldBytes);
    for (const one of slow.length > 0 || !largest ? slow : [largest]) {
      const waited = `the client did not read for ${this.#options.limits.stallMs} ms`;
      one.destroy(
        new OutboundError(
          'Unreachable',
          `${one.target}: ${waited}, while other connections of konnectivity agent ${quote(this.id)} waited`,
        ),
      );
    }
  }

  // To the agent.

  send(connection: TunnelConnection, data: Uint8Array, done: () => void): void {
    let at = 0;
    const more = (): void => {
      for (; at < data.length; at += dataBytesMax) {
        if (this.#isEnded || connection.destroyed) break;
        if (this.#isFull) {
          this.#writes.push(more);
          return;
        }
        this.#send(dataPacket(connection.id, data.subarray(at, at + dataBytesMax)));
      }
      if (this.#isFull && !this.#isEnded) this.#writes.push(done);
      else done();
    };
    more();
  }

  #send(packet: Uint8Array): void {
    if (this.#isEnded) return;
    if (!this.#sink!.write(packet)) this.#isFull = true;
    if ((this.#sink!.waitingBytes?.() ?? 0) > unreadBytesMax) this.#lost('did not read');
  }

  /** Each waiting write sends one packet, in turn. */
  #drained(): void {
    this.#isFull = false;
    const writes = this.#writes;
    this.#writes = [];
    for (const write of writes) {
      if (this.#isFull) this.#writes.push(write);
      else write();
    }
  }

  closing(connection: TunnelConnection): void {
    if (!this.#connections.has(connection.id)) return;
    this.#send(closeRequest(connection.id));
    const timer = this.#options.clock.after(this.#options.limits.dialMs, () => connection.destroy());
    connection.once('close', () => timer.cancel());
  }

  closed(connection: TunnelConnection): void {
    this.#options.held.release(connection.heldBytes);
    connection.heldBytes = 0;
    this.#all.delete(connection);
    this.#slow.delete(connection);
    if (this.#connections.delete(connection.id)) {
      this.#unconfirmed.add(connection.id);
      if (this.#unconfirmed.size > unconfirmedMax) this.#unconfirmed.delete(this.#unconfirmed.values().next().value!);
      if (!connection.writableEnded) this.#send(closeRequest(connection.id));
    }
    this.#pace();
  }

  // The end.

  #violated(reason: string, code: number = grpcStatus.internal): void {
    this.end(code, reason, reason);
  }

  #lost(reason: string | undefined): void {
    this.end(grpcStatus.unavailable, reason ?? '', undefined);
  }

  /** Ends the stream with a gRPC status, and all connections with an error. */
  end(code: number, message: string, violation?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stall?.cancel();
    this.#messages = [];
    this.#gathered.clear();
    this.#options.held.forget(this);
    const lost = this.#lostError();
    for (const dial of this.#pending.values()) dial.reject(lost);
    this.#connections.clear();
    for (const connection of this.#all) connection.destroy(lost);
    this.#writes.splice(0).forEach((write) => write());
    this.#body?.destroy();
    this.#sink?.end(grpcTrailers(code, message));
    this.#options.onEnd(this, violation);
  }

  #lostError(): AgentLost {
    return new AgentLost('Unreachable', `konnectivity agent ${quote(this.id)} disconnected`);
  }
}
