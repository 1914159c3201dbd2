/**
 * Reads SQLite's write-ahead log before SQLite does. Recovery stops at the first frame whose checksum does not fit and takes the rest for a
 * crash in mid-write; it does not check whether a crash can have left the frames behind it.
 *
 *     header │ frame 1 │ frame 2 ∎ │ frame 3 │ frame 4 ∎ │ …       ∎ ends a transaction
 *
 * Each frame's checksum continues that of the frame before. So a frame that fits onto the *stored* checksum of a transaction's last frame
 * was written after it; and because a transaction is synced before the next one is written, all frames before it were on the disk. If one
 * of them does not fit now, it was damaged since: a proof, not a guess.
 *
 * Not a proof: frames of an unfinished transaction, in any state; frames of a transaction that failed and was partly overwritten by the
 * next (nothing ever followed it); frames of an earlier use of the file (other salts).
 */

import { closeSync, openSync, readSync } from 'node:fs';

export interface WalScan {
  /** The first frame, counted from 1, that is damaged for certain; 0 when it is the file's header. */
  readonly damagedFrame: number | undefined;
  /** Pages of the database after the last whole transaction; 0 when there is none. */
  readonly databasePages: number;
  /** Pages that the whole transactions hold. */
  readonly pages: ReadonlySet<number>;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const nothing: WalScan = { damagedFrame: undefined, databasePages: 0, pages: new Set() };

/** Scans the file at `path`, which must exist and may be empty. */
export function scanWal(path: string): WalScan {
  const descriptor = openSync(path, 'r');
  try {
    return scan(new WalFile(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

type Checksum = readonly [number, number];

interface Frame {
  readonly page: number;
  /** 0 inside of a transaction. */
  readonly databasePages: number;
  readonly salt: string;
  readonly stored: Checksum;
  /** Returns the expected stored checksum of the frame when it follows a frame with this checksum. */
  after(previous: Checksum): Checksum;
}

function scan(file: WalFile): WalScan {
  const header = file.header();
  if (!header) return nothing;
  const pages = new Set<number>();
  let databasePages = 0;
  let unfinished: number[] = [];
  let previous = header.checksum;
  for (let at = 1; header.intact; at++) {
    const frame = file.frame(at);
    if (!frame) return { damagedFrame: undefined, databasePages, pages };
    if (frame.page === 0 || frame.salt !== header.salt || !same(frame.after(previous), frame.stored)) {
      return { damagedFrame: isFollowed(file, at, header.salt) ? at : undefined, databasePages, pages };
    }
    previous = frame.stored;
    unfinished.push(frame.page);
    if (frame.databasePages === 0) continue;
    for (const page of unfinished) pages.add(page);
    unfinished = [];
    databasePages = frame.databasePages;
  }
  // The header is smaller than a sector and synced before the first frame: a crash does not leave half of it.
  const salt = file.frame(1)?.salt;
  return salt !== undefined && isFollowed(file, 1, salt) ? { ...nothing, damagedFrame: 0 } : nothing;
}

/** Reports whether a frame from `first` on ends a transaction that another frame follows. */
function isFollowed(file: WalFile, first: number, salt: string): boolean {
  let last: Checksum | undefined;
  for (let at = first; ; at++) {
    const frame = file.frame(at);
    if (!frame) return false;
    if (last && frame.page > 0 && frame.salt === salt && same(frame.after(last), frame.stored)) return true;
    // A frame that matches its checksum was written after it, even if this frame is damaged otherwise.
    last = frame.databasePages > 0 ? frame.stored : undefined;
  }
}

function same(a: Checksum, b: Checksum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The layout of the file, read in large pieces because frames are read in order. */
class WalFile {
  readonly #descriptor: number;
  #pageBytes = 0;
  #littleEndian = true;
  #piece = new DataView(new ArrayBuffer(0));
  #pieceAt = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Returns undefined if the file is too short, or if its header is too damaged to find any frame. */
  header(): { intact: boolean; salt: string; checksum: Checksum } | undefined {
    const view = this.#read(0, headerBytes);
    if (!view) return undefined;
    const magic = view.getUint32(0);
    this.#littleEndian = (magic & 1) === 0;
    const pageBytes = view.getUint32(8);
    const stored: Checksum = [view.getUint32(24), view.getUint32(28)];
    const intact =
      (magic & ~1) === 0x377f0682 &&
      pageBytes >= 512 &&
      pageBytes <= 65_536 &&
      same(checksum(view, 0, 24, this.#littleEndian, [0, 0]), stored);
    // The values of a damaged header are unusable: assume pages of 4 KiB and a little-endian machine, as our databases have.
    this.#pageBytes = intact ? pageBytes : 4_096;
    if (!intact) this.#littleEndian = true;
    return { intact, salt: saltOf(view, 16), checksum: stored };
  }

  frame(number: number): Frame | undefined {
    const frameBytes = frameHeaderBytes + this.#pageBytes;
    const view = this.#read(headerBytes + (number - 1) * frameBytes, frameBytes);
    if (!view) return undefined;
    const littleEndian = this.#littleEndian;
    return {
      page: view.getUint32(0),
      databasePages: view.getUint32(4),
      salt: saltOf(view, 8),
      stored: [view.getUint32(16), view.getUint32(20)],
      after: (previous) =>
        checksum(view, frameHeaderBytes, frameBytes, littleEndian, checksum(view, 0, 8, littleEndian, previous)),
    };
  }

  #read(position: number, length: number): DataView | undefined {
    const { byteLength } = this.#piece;
    if (position < this.#pieceAt || position + length > this.#pieceAt + byteLength) {
      const buffer = Buffer.alloc(Math.max(length, 1024 * 1024));
      const read = readSync(this.#descriptor, buffer, 0, buffer.length, position);
      this.#piece = new DataView(buffer.buffer, buffer.byteOffset, read);
      this.#pieceAt = position;
      if (read < length) return undefined;
    }
    return new DataView(this.#piece.buffer, this.#piece.byteOffset + position - this.#pieceAt, length);
  }
}

function saltOf(view: DataView, at: number): string {
  return `${view.getUint32(at)}-${view.getUint32(at + 4)}`;
}

/** SQLite's algorithm: two running sums over pairs of words, in the byte order of the machine that wrote them. */
function checksum(view: DataView, from: number, to: number, littleEndian: boolean, seed: Checksum): Checksum {
  let [a, b] = seed;
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, littleEndian) + b) >>> 0;
    b = (b + view.getUint32(at + 4, littleEndian) + a) >>> 0;
  }
  return [a, b];
}
