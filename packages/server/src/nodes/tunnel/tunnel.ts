/**
 * The built-in tunnel server of one control plane. Agents (konnectivity-agent) run in the network of the nodes and connect to the address of
 * the control plane; connections to kubelets, pods and services go through them. So nodes need no address that this server can reach.
 *
 *     const tunnel = new Tunnel({ plane: 'shop', serverId, guard, clock });
 *     if (isAgentRequest(request)) return tunnel.connect(request);    // POST /AgentService/Connect
 *     const socket = await tunnel.dial({ host: '10.0.0.5', port: 10250 });
 *
 * An agent authenticates with a credential of the control plane, and only connections of that control plane use it.
 */

import type { Duplex, Readable } from 'node:stream';
import { quote, unauthorized } from '@hangar/api';
import { currentActivity } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Allowance } from '@hangar/http2';
import { grpcStatus } from '@hangar/http2/grpc';
import type { Auditor, AuditRecord } from '../../audit/auditor.ts';
import type { Guard } from '../../auth/guard.ts';
import type { User } from '../../auth/user.ts';
import type { Fairness } from '../../fairness/fairness.ts';
import type { Answer, ServerRequest, Sink } from '../../http/message.ts';
import { errorAnswer } from '../../objects/answers.ts';
import { OutboundError } from '../../outbound/index.ts';
import { requestInfo } from '../../request/info.ts';
import { addressOf } from '../dialer.ts';
import type { DialTarget, NodeDialer } from '../dialer.ts';
import { Agent, AgentLost } from './agent.ts';
import { agentUser, isAgentUser } from './agent-user.ts';
import { Agents } from './agents.ts';
import { grpcHeaders, grpcRefusal, isGrpc } from './grpc-answer.ts';
import { HeldBytes, TotalHeldBytes } from './held-bytes.ts';
import { parseIdentifiers } from './identifiers.ts';
import { defaultLimits } from './limits.ts';
import type { TunnelLimits } from './limits.ts';

/** Limits and counts of the tunnels of all control planes of a process. */
export interface TunnelTotals {
  agents: number;
  readonly heldBytes: TotalHeldBytes;
}

export interface TunnelOptions {
  /** Name of the control plane, for messages. */
  readonly plane: string;
  /** Identifies this server among its replicas. An agent keeps one connection to each server. */
  readonly serverId: string;
  /** Number of replicas; absent: 1. Agents connect until they have reached as many servers. */
  readonly serverCount?: () => number;
  /** Authenticates users of the control plane. */
  readonly guard: () => Pick<Guard, 'identifyToken' | 'identifyConnection'>;
  readonly clock: Clock;
  readonly limits?: Partial<TunnelLimits>;
  /** Shared by all control planes of the process. */
  readonly totals?: TunnelTotals;
  /** Charges the time of agents to the control plane. */
  readonly fairness?: Pick<Fairness, 'arrives' | 'refusedUnknown' | 'runs'> | undefined;
  /** Records the calls of agents. */
  readonly auditor?: Auditor | undefined;
  /** Called when an agent was disconnected because it broke the protocol or exceeded a limit; at a limited rate. */
  readonly onViolation?: (message: string) => void;
}

const notGrpc: Answer = {
  status: 415,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('this path serves gRPC\n'),
};

const strangerAnswer = (request: ServerRequest): Answer => ({
  ...errorAnswer(unauthorized(), request.header('accept'), []),
  isToStranger: true,
});

/** gRPC method that agents call. The protocol has no package name. */
const connectTarget = '/AgentService/Connect';

export const isAgentRequest = ({ target }: ServerRequest): boolean => target === connectTarget;

const closedMessage = 'the control plane was closed';
const agentIdBytesMax = 253;
const violations = { burst: 10, perSecond: 0.1 };

export class Tunnel implements NodeDialer {
  readonly #options: TunnelOptions;
  readonly #limits: TunnelLimits;
  readonly #agents = new Agents();
  readonly #held: HeldBytes;
  readonly #totals: TunnelTotals;
  readonly #violations: Allowance;
  /** Agents that were accepted and whose streams have not started. */
  #starting = 0;
  #isClosed = false;

  constructor(options: TunnelOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#totals = options.totals ?? { agents: 0, heldBytes: new TotalHeldBytes() };
    this.#held = new HeldBytes(this.#limits.heldBytesMax, this.#totals.heldBytes);
    this.#violations = new Allowance(options.clock, violations.burst, violations.perSecond);
  }

  /** Reports whether an agent is connected. */
  get isConnected(): boolean {
    return this.#agents.size > 0;
  }

  /** Number of connected agents, of connections through them, and of bytes that wait for readers. */
  get usage(): { readonly agents: number; readonly connections: number; readonly heldBytes: number } {
    return { agents: this.#agents.size, connections: this.#agents.load, heldBytes: this.#held.bytes };
  }

  /** Serves the call of an agent. Never rejects. */
  async connect(request: ServerRequest): Promise<Answer> {
    const { guard, fairness, auditor } = this.#options;
    fairness?.arrives();
    const user = await agentUser(guard(), request);
    const record = auditor?.begin(request, requestInfo(request.method, request.target, false), user);
    if (user) fairness?.runs();
    else fairness?.refusedUnknown();
    const answer = user ? this.#answer(request, user, record) : strangerAnswer(request);
    return record ? record.answered(answer) : answer;
  }

  #answer(request: ServerRequest, user: User, record: AuditRecord | undefined): Answer {
    const activity = currentActivity();
    activity?.authenticated(user.name, true);
    if (activity && this.#options.fairness) activity.meter = this.#options.fairness;
    const isAllowed = isAgentUser(user);
    record?.decided(isAllowed ? 'allow' : 'forbid', '');
    if (!isAllowed) {
      return grpcRefusal(
        grpcStatus.permissionDenied,
        `user ${quote(user.name)} must not connect as a konnectivity agent`,
      );
    }
    if (request.method !== 'POST' || !isGrpc(request.header('content-type'))) return notGrpc;
    const id = request.header('agentid') ?? '';
    if (id === '' || id.length > agentIdBytesMax) {
      return grpcRefusal(grpcStatus.invalidArgument, 'the header agentID is required, with at most 253 characters');
    }
    const { plane } = this.#options;
    if (this.#isClosed) return grpcRefusal(grpcStatus.unavailable, closedMessage);
    if (this.#agents.size + this.#starting >= this.#limits.agentsMax) {
      const message = `control plane ${quote(plane)} has ${this.#limits.agentsMax} konnectivity agents, which is the limit`;
      return grpcRefusal(grpcStatus.resourceExhausted, message);
    }
    return this.#accepted(request, id);
  }

  #accepted(request: ServerRequest, id: string): Answer {
    const { passing } = request;
    if (!passing) return grpcRefusal(grpcStatus.unimplemented, 'agents must connect over HTTP/2');
    const { clock, serverId, serverCount } = this.#options;
    const agent = new Agent({
      id,
      identifiers: parseIdentifiers(request.header('agentidentifiers')),
      limits: this.#limits,
      clock,
      held: this.#held,
      activity: currentActivity(),
      onEnd: (ended, violation) => this.#ended(ended, violation, request.peer.address),
    });
    this.#starting++;
    return {
      status: 200,
      headers: grpcHeaders({ serverid: serverId, servercount: String(serverCount?.() ?? 1) }),
      body: { start: (sink) => this.#start(agent, passing.body, sink) },
    };
  }

  #start(agent: Agent, body: Readable, sink: Sink): void {
    this.#starting--;
    this.#agents.add(agent);
    this.#totals.agents++;
    agent.start(body, sink);
    if (this.#isClosed) agent.end(grpcStatus.unavailable, closedMessage);
  }

  #ended(agent: Agent, violation: string | undefined, address: string): void {
    if (this.#agents.delete(agent)) this.#totals.agents--;
    if (violation === undefined || !this.#violations.take()) return;
    const who = `konnectivity agent ${quote(agent.id)} (${address}) of control plane ${quote(this.#options.plane)}`;
    this.#options.onViolation?.(`${who} was disconnected: ${violation}`);
  }

  async dial(target: DialTarget): Promise<Duplex> {
    const { plane } = this.#options;
    const address = addressOf(target);
    const lost = new Set<Agent>();
    for (;;) {
      const agent = this.#agents.choose(target.host, lost);
      if (!agent)
        throw new OutboundError('Unreachable', `no konnectivity agent of control plane ${quote(plane)} is connected`);
      if (this.#agents.load >= this.#limits.connectionsMax) {
        const limit = `control plane ${quote(plane)} has ${this.#limits.connectionsMax} connections through its konnectivity agents`;
        throw new OutboundError('Unreachable', `dial tcp ${address}: ${limit}, which is the limit`);
      }
      try {
        return await agent.dial(address, target.signal);
      } catch (error) {
        if (!(error instanceof AgentLost)) throw error;
        lost.add(agent);
      }
    }
  }

  /** Disconnects all agents. Their connections end with an error. */
  close(): void {
    this.#isClosed = true;
    for (const agent of this.#agents) agent.end(grpcStatus.unavailable, closedMessage);
  }
}
