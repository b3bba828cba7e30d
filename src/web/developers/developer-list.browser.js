// A list of the developer page, which the service sends in pages: read again after each change, and every few seconds while
// somebody looks at it.

globalThis.createList = (() => {
  const { byId, show } = globalThis.dom;
  const { ask, onClick } = globalThis.requests;
  const REFRESH_MS = 4000;

  /** `items` names them in an answer, `more` is the button for the next page. `onRead(all, answer)` is called after each read. */
  return ({ path, items, more, onRead }) => {
    /** Newest first: the first page, and those that the user has asked for. */
    let all = [];

    function take(answer, isFirst) {
      const page = answer[items];
      const oldest = page.at(-1)?.id ?? 0;
      const kept = all.filter(({ id }) => !isFirst || (answer.next !== null && id < oldest));
      all = isFirst ? [...page, ...kept] : [...kept, ...page];
      // To read the first page again leaves those after it.
      if (!isFirst || kept.length === 0) {
        byId(more).dataset.next = answer.next ?? '';
        show(more, answer.next !== null);
      }
      return onRead(all, answer);
    }

    /** One at a time, so that an earlier answer never replaces a later one. */
    let last = Promise.resolve();
    let waiting = 0;
    function refresh() {
      waiting += 1;
      last = last
        .catch(() => {})
        .then(async () => take(await ask(path), true))
        .finally(() => {
          waiting -= 1;
        });
      return last;
    }

    onClick(more, async ({ dataset }) => take(await ask(`${path}?after=${dataset.next}`), false));
    // A failure is shown when the user does something.
    const refreshIfSeen = () => {
      if (waiting === 0 && !document.hidden && !byId('signed-in').hidden) refresh().catch(() => {});
    };
    setInterval(refreshIfSeen, REFRESH_MS);
    document.addEventListener('visibilitychange', refreshIfSeen);

    return {
      refresh,
      all: () => all,
      find: (id) => all.find((one) => one.id === id),
      clear() {
        all = [];
      },
    };
  };
})();
