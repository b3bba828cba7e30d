// Sends server-sent events over one connection, and knows how much of them waits for a slow reader.

import type { StreamedBody } from '../../api/sized-response.ts';

/** How many bytes may wait to be sent, but for one event more. */
export const MAX_WAITING = 32 * 1024;

/** A class, because there are thousands: functions of their own would need twice the memory. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** For the request log. */
  readonly sent: StreamedBody;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #onRoom: (() => void) | null = null;

  /** `onEnd` is called once, when the stream has ended or the reader has disconnected. */
  constructor(onEnd: () => void) {
    this.sent = { bytes: 0, onEnd };
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#onRoom?.(),
        cancel: () => this.#finish(false),
      },
      // For a ByteLengthQueuingStrategy, Bun allocates a buffer at once.
      { highWaterMark: MAX_WAITING, size: (event) => event?.length ?? 0 },
    );
  }

  #finish(isComplete: boolean): void {
    this.#controller = null;
    this.#onRoom?.();
    this.sent.onEnd(isComplete);
  }

  get hasEnded(): boolean {
    return this.#controller === null;
  }

  /** Whether as much waits as may wait. */
  get isFull(): boolean {
    return this.#controller !== null && (this.#controller.desiredSize ?? 0) <= 0;
  }

  send(event: Uint8Array): void {
    if (this.#controller === null) return;
    this.sent.bytes += event.length;
    this.#controller.enqueue(event);
  }

  /** Resolves when there is room again: true, or false if the reader disconnected or took too long. */
  async drained(timeoutMs: number): Promise<boolean> {
    if (this.isFull) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#onRoom = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#onRoom = null;
    }
    return !this.hasEnded && !this.isFull;
  }

  /** Ends the stream when everything was sent. */
  end(): void {
    if (this.#controller === null) return;
    this.#controller.close();
    this.#finish(true);
  }
}

interface Event {
  readonly id?: string;
  /** `message` if it is absent. */
  readonly event?: string;
  /** One line. */
  readonly data?: string;
  /** Milliseconds that a client waits before it connects again. */
  readonly retry?: number;
}

const encoder = new TextEncoder();

/** An event without data only sets the id that the client resumes from. */
export function encodeEvent({ retry, id, event, data }: Event): Uint8Array {
  const lines = Object.entries({ retry, id, event, data }).filter(([, value]) => value !== undefined);
  return encoder.encode(`${lines.map(([name, value]) => `${name}: ${value}\n`).join('')}\n`);
}
