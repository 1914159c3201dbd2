/** One request of a client and its answer. */

import { numberFrame } from '../frames.ts';
import type { Field } from '../hpack/field.ts';
import type { Outgoing, Sender } from '../outgoing.ts';
import { errorCode, frameType, windowMax } from '../protocol.ts';
import { ReceiveWindow } from '../receive-window.ts';

export interface StreamEvents {
  /** The head of the answer, and its trailers if any. */
  onHead(fields: readonly Field[]): void;
  onData(chunk: Buffer): void;
  /** The server may send more only after `consumed`, for readers that do not read everything at once. Absent: no. */
  readonly isPaced?: boolean;
  /** Called when all data of `write` was sent, within the windows of the server and of the connection. */
  onSent?(): void;
  /** Called once, last. */
  onEnd(end: StreamEnd): void;
}

export interface StreamEnd {
  /** The answer is complete. */
  readonly isWhole: boolean;
  /** The server has certainly not begun to process the request. */
  readonly isUnsent: boolean;
  /** Reason of the failure; absent if it was reset only with a code. */
  readonly error?: Error | undefined;
  readonly code: number;
}

export interface ClientStreamHost {
  readonly outgoing: Outgoing;
  readonly receiveWindowBytes: number;
  /** The request consists only of its head. */
  readonly isBodiless: boolean;
  ended(stream: ClientStream): void;
}

export class ClientStream implements Sender {
  /** 0: waiting to be sent. */
  id = 0;
  readonly #block: string;
  readonly #events: StreamEvents;
  readonly #host: ClientStreamHost;
  readonly #receive: ReceiveWindow;
  #window = 0;
  /** Data that could not be sent yet. */
  #waiting: Uint8Array[] = [];
  #isRequestWhole: boolean;
  #isRequestSent: boolean;
  #isEnded = false;

  constructor(block: string, events: StreamEvents, host: ClientStreamHost) {
    this.#block = block;
    this.#events = events;
    this.#host = host;
    this.#receive = new ReceiveWindow(host.receiveWindowBytes);
    this.#isRequestWhole = this.#isRequestSent = host.isBodiless;
  }

  begin(id: number, window: number): void {
    this.id = id;
    this.#window = window;
    this.#host.outgoing.head(id, this.#block, this.#isRequestWhole && this.#waiting.length === 0);
    this.#send();
  }

  write(chunk: Uint8Array): void {
    if (this.#isEnded || this.#isRequestWhole) return;
    this.#waiting.push(chunk);
    if (this.id !== 0) this.#send();
  }

  end(chunk: Uint8Array): void {
    if (this.#isEnded || this.#isRequestWhole) return;
    this.#waiting.push(chunk);
    this.#isRequestWhole = true;
    if (this.id !== 0) this.#send();
  }

  /** Cancels the request. */
  reset(code: number = errorCode.cancel): void {
    if (this.#isEnded) return;
    if (this.id !== 0) this.#host.outgoing.append(numberFrame(frameType.resetStream, this.id, code));
    this.#finish({ isWhole: false, isUnsent: this.id === 0, code });
  }

  /** Called for WINDOW_UPDATE or SETTINGS. Returns false if the window would exceed its maximum. */
  widen(bytes: number): boolean {
    this.#window += bytes;
    if (this.#waiting.length > 0) this.#send();
    return this.#window <= windowMax;
  }

  sendSome(): boolean {
    const first = this.#waiting[0];
    if (first === undefined || this.#isEnded) return false;
    const { outgoing } = this.#host;
    const length = Math.min(first.length, this.#window, outgoing.window, outgoing.frameBytesMax);
    if (length <= 0 && first.length > 0) return false;
    this.#window -= length;
    if (length === first.length) this.#waiting.shift();
    else this.#waiting[0] = first.subarray(length);
    const isLast = this.#isRequestWhole && this.#waiting.length === 0;
    outgoing.data(this.id, first.subarray(0, length), isLast);
    this.#isRequestSent = isLast;
    if (this.#waiting.length === 0 && !isLast) this.#events.onSent?.();
    return this.#waiting.length > 0;
  }

  head(fields: readonly Field[] | undefined, isLast: boolean): void {
    if (this.#isEnded) return;
    if (!fields) return this.reset(errorCode.enhanceYourCalm);
    this.#events.onHead(fields);
    if (isLast) this.#answerEnded();
  }

  data(chunk: Buffer, flowBytes: number, isLast: boolean): void {
    if (this.#isEnded) return;
    if (!this.#receive.take(flowBytes)) return this.reset(errorCode.flowControl);
    if (chunk.length > 0) this.#events.onData(chunk);
    if (this.#isEnded) return;
    if (isLast) return this.#answerEnded();
    this.#give(this.#events.isPaced ? flowBytes - chunk.length : flowBytes);
  }

  /** Called when this many bytes of `onData` have been read, if it is paced. */
  consumed(bytes: number): void {
    if (!this.#isEnded) this.#give(bytes);
  }

  wasReset(code: number): void {
    this.#finish({ isWhole: false, isUnsent: code === errorCode.refusedStream, code });
  }

  /** Called when the server will not process it. */
  refused(error: Error): void {
    this.#finish({ isWhole: false, isUnsent: true, error, code: errorCode.refusedStream });
  }

  /** Called when the connection is lost. */
  lost(error: Error | undefined): void {
    this.#finish({ isWhole: false, isUnsent: this.id === 0, error, code: errorCode.none });
  }

  /** Sends everything at once if the windows allow it, as for most requests. */
  #send(): void {
    const { outgoing } = this.#host;
    while (outgoing.isOpen && this.sendSome());
    if (this.#waiting.length > 0) outgoing.wants(this);
  }

  #give(bytes: number): void {
    const given = this.#receive.give(bytes);
    if (given > 0) this.#host.outgoing.append(numberFrame(frameType.windowUpdate, this.id, given));
  }

  #answerEnded(): void {
    // A server may answer before it has read everything; the rest is not needed.
    if (!this.#isRequestSent && this.id !== 0) {
      this.#host.outgoing.append(numberFrame(frameType.resetStream, this.id, errorCode.none));
    }
    this.#finish({ isWhole: true, isUnsent: false, code: errorCode.none });
  }

  #finish(end: StreamEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#waiting = [];
    this.#host.outgoing.forget(this);
    this.#host.ended(this);
    this.#events.onEnd(end);
  }
}
