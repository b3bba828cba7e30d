// Notices a server that no longer answers, at the price of two counters: no timer for each thing that is asked of it.

export interface Watch {
  /** Asks. What is thrown goes through `translate` first. */
  during<T>(ask: () => Promise<T>, translate: (error: unknown) => unknown): Promise<T>;
  stop(): void;
}

/** What several watches of one server have seen it answer. */
export interface Progress {
  answers: number;
}

/** Of a server that answers others, something is given up only after so many turns: it may have waited for its own. */
const MOST_TURNS = 6;

/** `onLate` is told of what takes longer than the time, twice that at most, while nothing at all is answered. */
export function createWatch(ms: number, progress: Progress, onLate: () => void): Watch {
  // What is asked is counted in the turn in which it was; the newest turn comes first.
  let turns = [{ running: 0 }];
  let answersBefore = 0;
  const timer = setInterval(() => {
    const isSilent = progress.answers === answersBefore;
    const isLate = turns.slice(isSilent ? 1 : MOST_TURNS).some(({ running }) => running > 0);
    answersBefore = progress.answers;
    turns = [{ running: 0 }, ...turns.slice(0, 2 * MOST_TURNS)];
    if (!isLate) return;
    // All that is under way ends with this.
    turns = [{ running: 0 }];
    onLate();
  }, ms);
  timer.unref();
  return {
    async during(ask, translate) {
      const turn = turns[0] as { running: number };
      turn.running++;
      try {
        const answer = await ask();
        progress.answers++;
        return answer;
      } catch (error) {
        throw translate(error);
      } finally {
        turn.running--;
      }
    },
    stop: () => clearInterval(timer),
  };
}
