// Sends questions to a database in batches while it is busy, and one by one while it is not.

/** A statement that runs for longer no longer holds back the questions behind it. */
const SLOW_MS = 20;

export interface BatchOptions<Q, A> {
  /** Answers one question with a statement of its own. */
  one(question: Q): Promise<A>;
  /** Answers questions with one statement, in order; each may have an error of its own. */
  many(questions: readonly Q[]): Promise<readonly (A | Error)[]>;
  /** The most questions of a statement. */
  readonly size: number;
}

interface Waiting<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A question that finds no statement under way is sent at once. The others wait until that statement returns and go together, so
 * batches grow with the load.
 */
export function createBatches<Q, A>({ one, many, size }: BatchOptions<Q, A>): (question: Q) => Promise<A> {
  let isBusy = false;
  let waiting: Waiting<Q, A>[] = [];

  /** Runs a statement. `isBusy` becomes false when it returns or is slow, whichever comes first. */
  async function send<T>(statement: () => Promise<T>): Promise<T> {
    isBusy = true;
    let isFirst = true;
    const sendNext = () => {
      if (isFirst) sendWaiting();
      isFirst = false;
    };
    const timer = setTimeout(sendNext, SLOW_MS);
    try {
      return await statement();
    } finally {
      clearTimeout(timer);
      sendNext();
    }
  }

  function sendWaiting(): void {
    isBusy = false;
    if (waiting.length === 0) return;
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    void sendBatch(batch);
  }

  async function sendBatch(batch: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await send(() => many(batch.map(({ question }) => question)));
      for (const [turn, { resolve, reject }] of batch.entries()) {
        const answer = answers[turn] as A | Error;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (question) => {
    if (!isBusy) return send(() => one(question));
    return new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
    });
  };
}
