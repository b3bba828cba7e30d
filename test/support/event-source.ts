// Reads a stream of server-sent events as a browser's EventSource does, without connecting again by itself.

export interface ReceivedEvent {
  readonly type: string;
  readonly data: unknown;
  /** The last id that was received, with this event or before it. */
  readonly id: string;
}

export type EventReader = Awaited<ReturnType<typeof openEvents>>;

export async function openEvents(url: string, headers: Record<string, string> = {}) {
  const aborted = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: aborted.signal });
  const events: ReceivedEvent[] = [];
  let lastId = headers['last-event-id'] ?? '';
  let hasEnded = false;
  let wake = Promise.withResolvers<void>();
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const dispatch = (text: string) => {
    const fields = new Map(text.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    lastId = fields.get('id') ?? lastId;
    const data = fields.get('data');
    if (data !== undefined) events.push({ type: fields.get('event') ?? 'message', data: JSON.parse(data), id: lastId });
    notify();
  };
  const read = async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) dispatch(part);
    }
  };
  const ended = read()
    .catch(() => {})
    .then(() => {
      hasEnded = true;
      notify();
    });
  return {
    status: response.status,
    headers: response.headers,
    events: events as readonly ReceivedEvent[],
    /** What the next connection sends as Last-Event-ID. */
    get lastId() {
      return lastId;
    },
    /** Resolves when so many events were received, or the stream has ended. */
    async received(count: number): Promise<readonly ReceivedEvent[]> {
      while (events.length < count && !hasEnded) await wake.promise;
      return events;
    },
    /** Resolves when the server ends the stream, or it was closed. */
    ended,
    close: () => aborted.abort(),
  };
}
