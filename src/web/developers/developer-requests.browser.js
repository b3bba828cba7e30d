// Sends the requests of the developer page, and says what came of them.

globalThis.requests = (() => {
  const { byId } = globalThis.dom;
  /** Of EIP-1193 and EIP-1474. */
  const USER_REJECTED = 4001;
  const REQUEST_PENDING = -32002;

  /** One message at a time, announced by screen readers. An empty text takes it away. */
  function say(text, isError = false) {
    const message = document.createElement('p');
    message.className = isError ? 'notice trouble' : 'notice yes';
    message.textContent = text;
    byId('messages').replaceChildren(...(text === '' ? [] : [message]));
  }

  /** Resolves to the answer. Whoever is not signed in any more is told so by the event `session-ended`. */
  async function ask(path, method = 'GET', body = undefined) {
    const init = { method, headers: { 'content-type': 'application/json' }, credentials: 'same-origin' };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await fetch(path, init).catch(() => {
      throw new Error('The service cannot be reached. Check your connection and try again.');
    });
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const error = new Error(answer.detail ?? `The service responded with status ${response.status}.`);
    error.isSessionEnd = answer.type?.endsWith('signed-out') ?? false;
    if (error.isSessionEnd) document.dispatchEvent(new Event('session-ended'));
    throw error;
  }

  /** Errors of a wallet have a code, and not always a message. */
  function textOf({ code, message }) {
    if (code === USER_REJECTED) return 'You rejected the request in your wallet.';
    if (code === REQUEST_PENDING) return 'Your wallet already has an open request. Answer that one first.';
    return message || 'The wallet did not answer. Try again.';
  }

  /** Runs an action and says what went wrong. The button keeps the focus, but does nothing meanwhile. */
  async function attempt(button, work) {
    if (button.ariaDisabled === 'true') return;
    say('');
    button.ariaDisabled = 'true';
    try {
      await work();
    } catch (error) {
      if (!error.isSessionEnd) say(textOf(error), true);
    } finally {
      button.ariaDisabled = null;
    }
  }

  /** Handles a form by itself, with the button that submits it. */
  const onSubmit = (id, work) =>
    byId(id).addEventListener('submit', (event) => {
      event.preventDefault();
      const form = event.currentTarget;
      attempt(form.querySelector('button:not([type="button"])'), () => work(form, new FormData(form)));
    });

  const onClick = (id, work) =>
    byId(id).addEventListener('click', ({ currentTarget }) => attempt(currentTarget, () => work(currentTarget)));

  return { say, ask, attempt, onSubmit, onClick };
})();
